# SPDX-License-Identifier: BSD-2-Clause
"""fvm_files.py make FOLDER | mutate SEED COUNT FOLDER FILE... | large CHARGES FILE

make: small traces of the Filecoin virtual machine with known answers. mutate: FOLDER/0.trace, 1.trace, ..., each one of the FILEs with one to four
changes; the same seed makes the same files. large: calls of eight charges each, as text.
"""
import json
import pathlib
import random
import sys

EXAMPLE = """\
GasCharge { name: "OnChainMessage", compute_milli: 38863000, other_milli: 1000 }
Call { from: 103, to: Address("f07"), method: 15, params: None, value: TokenAmount(0.0), gas_limit: 9, read_only: false }
GasCharge { name: "wasm_exec", compute_milli: 1500, other_milli: 0 }
Log { msg: "SpanStart:load" }
GasCharge { name: "OnBlockOpen", compute_milli: 999, other_milli: 0 }
Call { from: 7, to: Address("f0105"), method: 2, params: None, value: TokenAmount(0.0), gas_limit: 9, read_only: true }
GasCharge { name: "wasm_exec", compute_milli: 2001, other_milli: 0 }
CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }
Log { msg: "info SpanEnd: load " }
GasCharge { name: "OnBlockLink", compute_milli: 4000, other_milli: 500 }
CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }
"""
# the same events, as the machine itself has printed them
MACHINE = r"""
GasCharge(GasCharge { name: "OnChainMessage", compute_gas: Gas(38863.000), other_gas: Gas(1), elapsed: GasDuration(None) })
Call { from: 103, to: Address { network: Mainnet, payload: ID(7) }, method: 15, params: RawBytes { bytes: [132, 66] }, value: TokenAmount(1.5) }
GasCharge(GasCharge { name: "wasm_exec", compute_gas: Gas(1.500), storage_gas: Gas(0), elapsed: GasDuration(Some(1.25µs)) })
Log("SpanStart:load")
GasCharge(GasCharge { name: "OnBlockOpen", compute_gas: Gas(0.999), other_gas: Gas(0), elapsed: GasDuration(Some(750ns)) })
InvokeActor { id: 7, state: ActorState { code: Cid(bafk7), state: Cid(bafkx), sequence: 3, balance: TokenAmount(0.5), delegated_address: None } }
Call { from: 7, to: Address { payload: ID(105) }, method: 2, params: Some(IpldBlock { codec: 51, data: [844200] }), value: TokenAmount(0.0), gas_limit: 9, read_only: true }
InvokeActor(Cid(bafk105))
Ipld { op: Get, cid: Cid(bafkblock), size: 123 }
GasCharge(GasCharge { name: "wasm_exec", compute_gas: Gas(2.001), other_gas: Gas(0), elapsed: GasDuration(Some(2ms)) })
CallError(SyscallError("no \"such\"\n\u{1f600} \\ actor", NotFound))
Log("info SpanEnd: load ")
GasCharge(GasCharge { name: "OnBlockLink", compute_gas: Gas(4.000), other_gas: Gas(0.500), elapsed: GasDuration(None) })
CallReturn(ExitCode { value: 16 }, None)
"""
BROKEN = """\
CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }
Log { msg: "SpanEnd:never begun" }
GasCharge { name: "a", compute_milli: 1000, other_milli: 0 }
Teleport { from: 1, to: 2 }
Log { msg: "SpanStart:x" }
Log { msg: "SpanStart:x" }
GasCharge { name: "a", compute_milli: 10, other_milli: 0 }
Log { msg: "SpanEnd:x" }
Call { from: 1, to: Address("f02"), method: 3, params: None, value: TokenAmount(0.0), gas_limit: 9, read_only: false }
GasCharge { name: "b", compute_milli: -5, other_milli: 105 }
"""
SPANS = """\
SpanBegin(SpanBegin { label: "Send", tag: "", parent: 0, code: Cid(bafkqaaa), method: 0, timestamp: 100 })
GasCharge(GasCharge { name: "wasm_exec", compute_gas: Gas(1.500), other_gas: Gas(0), elapsed: GasDuration(None) })
SpanBegin(SpanBegin { label: "load", tag: "k=1", parent: 99, code: Cid(bafkqaab), method: 2, timestamp: 300 })
SpanEnd(SpanEnd { id: 1, timestamp: 500 })
SpanEnd(SpanEnd { id: 1, timestamp: 520 })
SpanEnd(SpanEnd { id: 7, timestamp: 530 })
SpanBegin(SpanBegin { label: "load", tag: "", parent: 1, code: Cid(bafkqaab), method: 2, timestamp: 600 })
SpanEnd(SpanEnd { id: 3, timestamp: 650 })
"""


def charge(name, total, compute, other, elapsed=0):
    return {"Name": name, "tg": total, "cg": compute, "sg": other, "tt": elapsed}


def trace(source, target, method, charges, calls, **more):
    return {"Msg": {"From": source, "To": target, "Value": "0", "Method": method, "Params": "gkA=", "ParamsCodec": 81, "GasLimit": 9, "ReadOnly": False},
            "MsgRct": {"ExitCode": 0, "Return": None, "ReturnCodec": 0}, "InvokedActor": {"Id": 7, "State": {"Code": {"/": "bafk7"}, "Nonce": 0}},
            "GasCharges": charges, "Subcalls": calls, **more}


def traces():
    inner = trace("f07", "f0105", 2, [charge("wasm_exec", 3, 3, 0)], None, Logs=["SpanStart:x", "a \"quote\""],
                  IpldOps=[{"Op": "Get", "Cid": {"/": "bafkblock"}, "Size": 5}])
    inner["MsgRct"]["ExitCode"] = 16
    outer = trace("f0103", "f07", 15, [charge("OnChainMessage", 1228, 228, 1, 40), charge("OnDeleteActor", -500, 0, -500), charge("zero", 0, 0, 0)], [inner])
    null = {"Msg": None, "MsgRct": None, "GasCharges": None, "Subcalls": []}
    return outer, null


def make(folder):
    outer, null = traces()
    state = {"Root": {"/": "x"}, "Trace": [{"MsgCid": {"/": "y"}, "Msg": {"From": "z"}, "MsgRct": None, "ExecutionTrace": outer, "Error": "", "Duration": 5}]}
    files = {
        "example.txt": EXAMPLE, "machine.txt": MACHINE, "broken.txt": BROKEN, "spans.txt": SPANS,
        "bad.txt": EXAMPLE.replace('name: "OnBlockOpen", compute_milli: 999', 'name: "OnBlockOpen", compute_milli: x')
                          .replace('Log { msg: "SpanStart:load" }', 'Log { msg: "SpanStart:load" }\nLog { msg: unquoted }\nCall { from: 1, to: Nowhere('),
        "list.json": json.dumps([outer, null]), "state.json": json.dumps({"jsonrpc": "2.0", "result": state}), "alone.json": json.dumps(outer, indent=1),
        "nothing.json": json.dumps({"MsgRct": None, "a": [1, {"b": "c"}]}),
        "cut.json": json.dumps([outer, outer])[:-300], "no_json.json": json.dumps([outer])[:-1] + "?", "deep.json": '{"Subcalls":[' * 2000,
    }
    for name, text in files.items():
        (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")


def mutate(seed, count, folder, sources):
    rng = random.Random(int(seed))
    folder = pathlib.Path(folder)
    folder.mkdir()
    for number in range(int(count)):
        data = bytearray(pathlib.Path(rng.choice(sources)).read_bytes())
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data) + 1)
            what = rng.randrange(4)
            if what == 0:
                data[at:at + 1] = bytes([rng.randrange(256)])
            elif what == 1:
                del data[at:at + rng.randint(1, 40)]
            elif what == 2:
                data[at:at] = rng.choice([b'"', b"{", b"}", b"(", b"\\", b"\n", b"99999999999999999999999", b"-", rng.randbytes(5)])
            else:
                begin = rng.randrange(len(data) + 1)
                data[at:at] = data[begin:begin + rng.randint(1, 300)]
        (folder / f"{number}.trace").write_bytes(data)


def large(count, path):
    names = ("wasm_exec", "OnBlockLink", "OnBlockOpenBase", "OnSyscall")
    with open(path, "w", encoding="utf-8") as out:
        for call in range(count // 8):
            out.write(f'Call {{ from: {call % 9}, to: Address("f0{call % 50}"), method: {call % 5}, params: None, value: TokenAmount(0.0), gas_limit: 9, read_only: false }}\n')
            for i in range(8):
                out.write(f'GasCharge {{ name: "{names[i % 4]}", compute_milli: {1000 + (call * 7 + i) % 9999}, other_milli: 0 }}\n')
            out.write("CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }\n")


if sys.argv[1] == "make":
    make(sys.argv[2])
elif sys.argv[1] == "mutate":
    mutate(*sys.argv[2:5], sys.argv[5:])
else:
    large(int(sys.argv[2]), sys.argv[3])
