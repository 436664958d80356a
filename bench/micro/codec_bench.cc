// The cost of wire and record formats by themselves: file handles, checksums, record envelopes,
// keys.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/crc32c.h"
#include "core/api/file_handle.h"
#include "core/kv/codec.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {

void BM_HandleEncode(benchmark::State& state) {
  const HandleCodec codec(1, SipKey{});
  std::uint64_t id = 0;
  for (auto _ : state) benchmark::DoNotOptimize(codec.encode({.id = FileId{++id}, .generation = 1}));
}
BENCHMARK(BM_HandleEncode);

void BM_HandleDecode(benchmark::State& state) {
  const HandleCodec codec(1, SipKey{});
  const HandleBytes handle = codec.encode({.id = FileId{42}, .generation = 1});
  for (auto _ : state) benchmark::DoNotOptimize(codec.decode(handle));
}
BENCHMARK(BM_HandleDecode);

void BM_Crc32c(benchmark::State& state) {
  const std::vector<std::byte> data(static_cast<std::size_t>(state.range(0)), std::byte{7});
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(data));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Crc32c)->Arg(4096)->Arg(1 << 20);

void BM_EncodeRecord(benchmark::State& state) {
  for (auto _ : state) {
    Encoder body;
    for (std::uint64_t field = 0; field < 16; ++field) body.put(field);
    benchmark::DoNotOptimize(encode_record(1, 1, body.bytes()));
  }
}
BENCHMARK(BM_EncodeRecord);

void BM_EntryKey(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(keys::id_name(FileId{77}, keys::stored_name("f00001234", false)));
}
BENCHMARK(BM_EntryKey);

}  // namespace
}  // namespace stoa::core
