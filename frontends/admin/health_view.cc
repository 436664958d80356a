#include "frontends/admin/health_view.h"

namespace stoa::admin {
namespace {

std::string damage_text(const core::DamagedRange& range) {
  const std::string file =
      range.path.empty() ? "inode " + std::to_string(static_cast<std::uint64_t>(range.id)) : range.path;
  return file + ": bytes " + std::to_string(range.offset) + " to " + std::to_string(range.offset + range.length) +
         " do not match their checksum";
}

std::string with_reason(std::string text, const std::string& error) {
  return error.empty() ? text : text.append(": ").append(error);
}

std::string problem_text(const core::Problem& problem) {
  switch (problem.kind) {
    case core::ProblemKind::kMetadataFailed:
      return with_reason("changes of the metadata do not become durable", problem.error);
    case core::ProblemKind::kMetadataStalled:
      return with_reason("changes of the metadata wait for room", problem.error);
    case core::ProblemKind::kMetadataFull:
      return "the disk of the metadata is full: removals work, nothing may grow";
    case core::ProblemKind::kBlobDirectory:
      return with_reason("a blob directory does not work", problem.error);
    case core::ProblemKind::kDamage: {
      const std::size_t more = problem.damage.size() - 1;
      return "content is damaged: " + damage_text(problem.damage.front()) +
             (more != 0 ? ", and " + std::to_string(more) + " more" : std::string());
    }
    case core::ProblemKind::kKeptContent:
      return std::to_string(problem.blobs) + " blobs with " + std::to_string(problem.bytes) +
             " bytes have no file that refers to them: more than a crash leaves behind, so they are kept";
  }
  return {};
}

Json facts_of(const core::Problem& problem) {
  switch (problem.kind) {
    case core::ProblemKind::kMetadataFailed:
    case core::ProblemKind::kMetadataStalled:
    case core::ProblemKind::kBlobDirectory:
      return {{"error", problem.error}};
    case core::ProblemKind::kMetadataFull:
      break;
    case core::ProblemKind::kDamage:
      return {{"ranges", problem.damage.size()}};
    case core::ProblemKind::kKeptContent:
      return {{"blobs", problem.blobs}, {"bytes", problem.bytes}};
  }
  return Json::object();
}

}  // namespace

Json view(const core::Problem& problem) {
  return {{"kind", to_string(problem.kind)},
          {"path", problem.path},
          {"facts", facts_of(problem)},
          {"text", problem_text(problem)}};
}

Json view(const core::DamagedRange& range) {
  Json json{{"id", std::to_string(static_cast<std::uint64_t>(range.id))},
            {"offset", range.offset},
            {"length", range.length},
            {"text", damage_text(range)}};
  put_bytes(json, "path", range.path);
  return json;
}

}  // namespace stoa::admin
