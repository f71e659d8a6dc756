// SPDX-License-Identifier: BSD-2-Clause
// Answer FOLDER ROUNDS: collects garbage, sleeps, parks, waits in monitors and for them. Its first thread sleeps until FOLDER/go is there, so that its
// tracer can say when it has arrived; all else is done by a second one.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

class Answer {
	static class Held {
	}

	static class Turn {
	}

	static long hot(long x) {
		long sum = 0;

		for (int i = 0; i < 50; i++)
			sum += x * i;
		return sum;
	}

	// Held until the other one is seen to be blocked by it.
	static void contend(Held held) throws InterruptedException {
		Thread other = new Thread(() -> {
			synchronized (held) {
			}
		});

		synchronized (held) {
			other.start();
			while (other.getState() != Thread.State.BLOCKED)
				Thread.yield();
		}
		while (other.isAlive())
			Thread.yield();
	}

	static void work(int rounds) throws InterruptedException {
		Held held = new Held();
		Turn turn = new Turn();
		long sum = 0;

		for (int i = 0; i < rounds; i++) {
			System.gc();
			Thread.sleep(1);
			Thread.sleep(1);
			for (int k = 0; k < 3; k++)
				LockSupport.parkNanos(100_000);
			synchronized (turn) {
				for (int k = 0; k < 4; k++)
					turn.wait(1);
			}
			contend(held);
		}
		for (int i = 0; i < 100_000; i++)
			sum += hot(i);
		System.out.println("sum=" + sum);
	}

	public static void main(String[] arguments) throws Exception {
		Path go = Path.of(arguments[0], "go");
		int rounds = Integer.parseInt(arguments[1]);
		Thread worker = new Thread(() -> {
			try {
				work(rounds);
			} catch (InterruptedException interrupted) {
				System.exit(1);
			}
		});

		System.out.println("ready");
		while (!Files.exists(go))
			Thread.sleep(10);
		worker.start();
		worker.join();
	}
}
