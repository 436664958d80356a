#include "frontends/admin/finding_sentences.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "frontends/admin/fact_text.h"

namespace stoa::admin {
namespace {

using core::FindingKind;

struct FindingSentence {
  FindingKind kind;
  std::string_view text;
};

constexpr FindingSentence kFindingSentences[] = {
    {FindingKind::kRecordsUnreadable, "{records} cannot be read: {reason}"},
    {FindingKind::kPathUnreadable, "{path} (inode {inode}) cannot be followed: its record cannot be read"},
    {FindingKind::kNameUnreadable, "{path} (inode {inode}) cannot be found: its name in the directory cannot be read"},
    {FindingKind::kVolumeUnopened, "the volume cannot be opened: {reason}"},
    {FindingKind::kInodeDamaged, "inode {inode}: the record is damaged"},
    {FindingKind::kExtentsOverlap, "inode {inode}: extents overlap"},
    {FindingKind::kExtentEmpty, "inode {inode}: an empty extent"},
    {FindingKind::kExtentBeyondBlob, "inode {inode}: an extent reaches beyond the end of its blob"},
    {FindingKind::kInlineDamaged, "inode {inode}: inline content is missing or damaged: {path}"},
    {FindingKind::kInlineStray, "inline content of inode {inode}, which does not exist"},
    {FindingKind::kInlineUnused, "inline content of inode {inode}, which does not use it"},
    {FindingKind::kContentDamaged, "inode {inode}: stored bytes cannot be read or do not match their checksums"},
    {FindingKind::kAclDamaged, "inode {inode}: the ACL is missing or damaged"},
    {FindingKind::kAclMode, "inode {inode}: the mode is not that of the ACL"},
    {FindingKind::kAclUnused, "an ACL of inode {inode}, which does not use it"},
    {FindingKind::kXattrStray, "an extended attribute of inode {inode}, which does not exist"},
    {FindingKind::kAttributeBytes, "inode {inode}: {recorded} bytes of extended attributes and ACL, found {found}"},
    {FindingKind::kEntryDamaged, "entry '{name}' of inode {directory}: the record is damaged"},
    {FindingKind::kEntryStray, "entry '{name}' of inode {directory}: the directory does not exist"},
    {FindingKind::kEntryDangling, "entry '{name}' of inode {directory}: dangling, inode {inode} does not exist"},
    {FindingKind::kEntryType, "entry '{name}' of inode {directory}: the type differs from that of the inode"},
    {FindingKind::kEntryForm, "entry '{name}' of inode {directory}: a directory under the name of a file"},
    {FindingKind::kEntryParent,
     "entry '{name}' of inode {directory}: the directory thinks that its parent is another one"},
    {FindingKind::kEntryCookie, "entry '{name}' of inode {directory}: the cookie record is missing or differs"},
    {FindingKind::kEntryLink, "entry '{name}' of inode {directory}: the link record is missing"},
    {FindingKind::kEntryShadow, "entry '{name}' of inode {directory}: wrongly marked as shadowed"},
    {FindingKind::kEntryFold,
     "entry '{name}' of inode {directory}: the record for look-ups that ignore case is missing"},
    {FindingKind::kFoldCount, "there are {recorded} records for look-ups that ignore case, for {names} such names"},
    {FindingKind::kCookieCount, "there are {recorded} cookie records for {entries} entries"},
    {FindingKind::kLinkRecordCount, "there are {recorded} link records for {entries} entries"},
    {FindingKind::kNamesUncompared,
     "names, links and accounts were not compared, because records of them cannot be read"},
    {FindingKind::kNameless, "inode {inode}: has no name"},
    {FindingKind::kSeveralNames, "inode {inode}: a directory with several names"},
    {FindingKind::kLinkCount, "inode {inode}: link count {recorded}, found {found}"},
    {FindingKind::kEntryCount, "inode {inode}: entry count {recorded}, found {found}"},
    {FindingKind::kCycle, "inode {inode}: the directories above form a cycle"},
    {FindingKind::kOrphanGone, "inode {inode}: listed as open without a name, and does not exist"},
    {FindingKind::kOrphanNamed, "inode {inode}: wrongly listed as open without a name"},
    {FindingKind::kOrphanCharge,
     "inode {inode}: has no name, and its usage is charged to a directory that does not exist"},
    {FindingKind::kBinDamaged, "inode {directory}: the record of its recycle bin is damaged"},
    {FindingKind::kBinListed, "inode {directory}: wrongly listed as having a recycle bin"},
    {FindingKind::kBinMissing, "inode {directory}: its recycle bin, inode {bin}, does not exist, or is another one's"},
    {FindingKind::kBinUnrecorded, "inode {directory}: its recycle bin is not recorded"},
    {FindingKind::kBinUnowned, "inode {inode}: a recycle bin that nobody has"},
    {FindingKind::kBinNamed, "inode {inode}: a recycle bin with a name"},
    {FindingKind::kItemDamaged, "item {item} of recycle bin inode {bin}: the record is damaged"},
    {FindingKind::kItemGone, "item {item} of recycle bin inode {bin}: it is not in the bin"},
    {FindingKind::kItemCount, "there are {recorded} items for {names} names in recycle bins"},
    {FindingKind::kSealedFile, "inode {inode}: sealed, and no directory"},
    {FindingKind::kSealUnlisted, "inode {inode}: sealed, and not listed"},
    {FindingKind::kSealListed, "inode {inode}: wrongly listed as sealed"},
    {FindingKind::kSealGone, "inode {inode}: listed as sealed, and gone"},
    {FindingKind::kUsageUncompared, "usage was not recounted, because records of it cannot be read"},
    {FindingKind::kUsageLogDamaged, "the log of usage: a record is damaged"},
    {FindingKind::kUsageDamaged, "usage of inode {directory}: the record is damaged"},
    {FindingKind::kUsageStray, "usage of inode {directory}: the directory does not exist"},
    {FindingKind::kUsageEnded, "usage of inode {directory}: wrongly marked as that of a directory that is gone"},
    {FindingKind::kUsageUnrecorded,
     "{usage}: not recorded, counted {bytes} bytes, {files} files, {directories} directories"},
    {FindingKind::kUsageDiffers,
     "{usage}: recorded {recorded_bytes} bytes, {recorded_files} files, {recorded_directories} directories, counted "
     "{bytes} bytes, {files} files, {directories} directories"},
    {FindingKind::kUsageEarly, "{usage}: recorded before it is counted"},
    {FindingKind::kUsageUncounted, "{usage}: the directory does not count owners"},
    {FindingKind::kCountingListed, "inode {directory}: wrongly listed as counting users and groups"},
    {FindingKind::kCountingUnlisted, "inode {directory}: counts users and groups, and is not listed"},
    {FindingKind::kChargeNameless, "inode {inode}: its usage is charged where it has no name"},
    {FindingKind::kChargeStray, "inode {inode}: its usage is charged to a directory that does not exist"},
    {FindingKind::kBlobReferences, "blob {blob}: recorded references differ from the {found} that layouts hold"},
    {FindingKind::kBlobUnrecorded, "blob {blob}: named by a layout, but not recorded"},
    {FindingKind::kBlobUnnamed, "blob {blob}: takes space, and nothing names it"},
    {FindingKind::kBlobMissing, "blob {blob}: missing in the blob store"},
};

// What the numbers of a family of records number.
constexpr std::pair<std::string_view, std::string_view> kNumberedRecords[] = {
    {"inode", "records of inodes"},
    {"inline", "inline content of inodes"},
    {"entry", "names in directories of inodes"},
    {"cookie", "listings of directories of inodes"},
    {"xattr", "extended attributes of inodes"},
    {"link", "links of inodes"},
    {"usage", "usage of directories of inodes"},
    {"blob", "records of blobs"},
    {"checksum", "checksums of blobs"},
    {"journal", "changes in the journal, numbers"},
    {"gc", "blobs to be freed"},
};

std::string records_text(const Facts& facts) {
  const std::string_view family = fact_of(facts, "family"), from = fact_of(facts, "from"), to = fact_of(facts, "to");
  const auto known = std::ranges::find(kNumberedRecords, family, &std::pair<std::string_view, std::string_view>::first);
  if (from.empty() || known == std::end(kNumberedRecords)) return "some records of family " + std::string(family);
  const std::string text = std::string(known->second) + " from " + std::string(from);
  return to.empty() ? text + " on" : text + " up to " + std::string(to);
}

std::string usage_text(const Facts& facts) {
  std::string text = "usage of ";
  for (const char* const kind : {"user", "group"}) {
    if (const std::string_view id = fact_of(facts, kind); !id.empty())
      text.append(kind).append(" ").append(id).append(" in ");
  }
  text.append("inode ").append(fact_of(facts, "directory"));
  const std::string_view of = fact_of(facts, "class");
  if (of == "recycled") return text + ", recycled";
  if (of == "orphans") return text + ", without a name";
  if (of == "multipart") return text + ", of multipart uploads";
  return text;
}

}  // namespace

std::string_view sentence_template(FindingKind kind) {
  const auto found = std::ranges::find(kFindingSentences, kind, &FindingSentence::kind);
  return found == std::end(kFindingSentences) ? std::string_view() : found->text;
}

std::string sentence(const core::Finding& finding) {
  Facts facts = facts_of(core::fact_names(finding.kind), finding.facts);
  if (finding.kind == FindingKind::kRecordsUnreadable) facts.emplace("records", records_text(facts));
  facts.emplace("usage", usage_text(facts));
  return filled(sentence_template(finding.kind), facts);
}

}  // namespace stoa::admin
