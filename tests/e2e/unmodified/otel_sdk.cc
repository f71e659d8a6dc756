// SPDX-License-Identifier: BSD-2-Clause
// A program with spans of OpenTelemetry's C++ SDK, as it is: the SDK's own exporter prints them. What is
// added is a storage of contexts that publishes the current one for each thread (OTEP 4947), as a tracer does
// that supports it.
//
//	otel_sdk THREADS TRANSACTIONS
#include <opentelemetry/context/runtime_context.h>
#include <opentelemetry/exporters/ostream/span_exporter_factory.h>
#include <opentelemetry/sdk/trace/processor.h>
#include <opentelemetry/sdk/trace/simple_processor_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/sdk/trace/tracer_provider_factory.h>
#include <opentelemetry/trace/context.h>
#include <opentelemetry/trace/provider.h>
#include <opentelemetry/trace/scope.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace api = opentelemetry;

struct Record {
	uint8_t trace[16];
	uint8_t span[8];
	uint8_t valid;
	uint8_t flags;
	uint16_t attribute_bytes;
} __attribute__((packed, aligned(2)));

extern "C" {
__attribute__((visibility("default"))) thread_local Record *otel_thread_ctx_v1;
}

class PublishingStorage : public api::context::ThreadLocalContextStorage
{
public:
	api::nostd::unique_ptr<api::context::Token> Attach(
		const api::context::Context &context) noexcept override
	{
		auto token = ThreadLocalContextStorage::Attach(context);
		publish();
		return token;
	}

	bool Detach(api::context::Token &token) noexcept override
	{
		bool is_detached = ThreadLocalContextStorage::Detach(token);
		publish();
		return is_detached;
	}

private:
	void publish()
	{
		static thread_local Record record;
		auto context = api::trace::GetSpan(GetCurrent())->GetContext();

		record.valid = 0;
		std::atomic_signal_fence(std::memory_order_seq_cst);
		context.trace_id().CopyBytesTo(record.trace);
		context.span_id().CopyBytesTo(record.span);
		record.flags = context.trace_flags().flags();
		std::atomic_signal_fence(std::memory_order_seq_cst);
		record.valid = context.IsValid();
		otel_thread_ctx_v1 = &record;
	}
};

static void sleep_ms(int ms)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static void work_us(int us)
{
	auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);

	while (std::chrono::steady_clock::now() < until)
		;
}

static std::mutex account;

// "transfer" sleeps for 3 ms itself, "lock" holds a mutex for 2 ms, "disk" sleeps for 1 ms.
static void transfer(api::trace::Tracer &tracer)
{
	auto span = tracer.StartSpan("transfer");
	api::trace::Scope scope(span);

	sleep_ms(3);
	{
		auto lock_span = tracer.StartSpan("lock");
		api::trace::Scope lock_scope(lock_span);
		std::lock_guard<std::mutex> lock(account);

		sleep_ms(2);
		work_us(200);
	}
	{
		auto disk_span = tracer.StartSpan("disk");
		api::trace::Scope disk_scope(disk_span);

		sleep_ms(1);
	}
}

int main(int argc, char **argv)
{
	int thread_cnt = argc > 1 ? atoi(argv[1]) : 2, transaction_cnt = argc > 2 ? atoi(argv[2]) : 20;
	std::vector<std::thread> threads;

	api::context::RuntimeContext::SetRuntimeContextStorage(
		api::nostd::shared_ptr<api::context::RuntimeContextStorage>(new PublishingStorage));
	auto exporter = api::exporter::trace::OStreamSpanExporterFactory::Create();
	auto processor = api::sdk::trace::SimpleSpanProcessorFactory::Create(std::move(exporter));
	std::shared_ptr<api::trace::TracerProvider> provider = api::sdk::trace::TracerProviderFactory::Create(
		std::move(processor));
	api::trace::Provider::SetTracerProvider(provider);
	auto tracer = provider->GetTracer("bank");

	sleep_ms(1000); // for whoever looks which libraries are loaded
	for (int i = 0; i < thread_cnt; i++)
		threads.emplace_back([&] {
			for (int n = 0; n < transaction_cnt; n++)
				transfer(*tracer);
		});
	for (auto &thread : threads)
		thread.join();
	return 0;
}
