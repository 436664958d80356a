// Matching of data directories: whether the given ones make one whole store, and the store of the metadata
// (pairing.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/blob/local/identity.h"
#include "backends/blob/local/pairing.h"
#include "base/error.h"

namespace stoa::blob_local {

struct Found {
  std::string path;
  std::optional<Identity> identity;  // absent: it holds none
  bool fresh = false;                // it is given one now
};

// Gives new directories the next numbers, in memory; refuses a set that is not one whole store, kInvalid. `create`:
// they may all be new.
Status match_identities(std::vector<Found>& found, bool create);

// Refuses directories of other metadata: kInvalid, with a text for people.
Status compare_generations(const std::vector<Found>& found, const BlobPairing& pairing);

// Raises generations accepted by compare_generations() to the next one, everywhere. Writes all identities. On a full
// disk the generation stays as it is, wherever that ended, and the store starts nevertheless.
Status raise_generation(std::vector<Found>& found, const BlobPairing& pairing);

}  // namespace stoa::blob_local
