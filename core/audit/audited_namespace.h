// View of the namespace for front ends that audits calls outside transactions: denials, reads and listings. While
// no directory has an audit policy, each call reads one flag; else recorded classes go to the journal, not durably.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "core/audit/denial_limit.h"
#include "core/audit/transfer_tally.h"
#include "core/journal/journal.h"

namespace stoa::core {

class AuditedNamespace : public Namespace {
 public:
  // Volume::report_omitted_denials().
  virtual std::optional<DenialLimit::Time> report_omitted() = 0;
  // Volume::take_transfers().
  virtual std::vector<Transfer> take_transfers() = 0;
};

// All of them must outlive it.
std::unique_ptr<AuditedNamespace> audit(Namespace& inner, const Registry& registry, Journal& journal,
                                        const TimeSource& time);

}  // namespace stoa::core
