#include "frontends/admin/sentences.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace stoa::admin {
namespace {

struct CauseSentence {
  Cause cause;
  std::string_view text;
};
struct CodeSentence {
  Errc code;
  std::string_view text;
};

constexpr CauseSentence kCauseSentences[] = {
    {Cause::kNameUnknown, "there is no {1} named '{2}'"},
    {Cause::kNameOrNumberUnknown, "there is no {1} named '{2}', and it is no number"},
    {Cause::kNameTaken, "{1} '{2}' exists already"},
    {Cause::kNumberTaken, "group '{1}' has the number {2} already"},
    {Cause::kTooManyRecords, "there are {2} {1} already, the most there can be"},
    {Cause::kExportOwnerUnknown, "there is no user '{2}' to own the export '{1}'"},
    {Cause::kUserOwnsExport, "user '{1}' owns export '{2}'"},
    {Cause::kExportNameLength, "the export name '{1}' must have 1 to 255 bytes"},
    {Cause::kExportNameCharacters, "the export name '{1}' must not be '.' or '..', nor hold '/' or control characters"},
    {Cause::kBucketNameLength, "the bucket name '{1}' must have 3 to 63 characters"},
    {Cause::kBucketNameCharacters, "the bucket name '{1}' may hold lower-case letters, digits, '.' and '-' only"},
    {Cause::kBucketNameForm,
     "the bucket name '{1}' must begin and end with a letter or digit, hold no two dots in a row, and not look like an "
     "IPv4 address"},
    {Cause::kBucketNameReserved,
     "the bucket name '{1}' has the prefix 'xn--' or the suffix '-s3alias', which are reserved"},
    {Cause::kAccountNameLength, "the {1} name '{2}' must have 1 to 64 characters"},
    {Cause::kAccountNameCharacters,
     "the {1} name '{2}' may hold letters, digits and _-.@$, and must not begin with '-' or '.'"},
    {Cause::kPrincipalForm, "user '{1}': a principal is written as name@REALM"},
    {Cause::kAccessKeyForm, "user '{1}': an access key has 3 to 128 letters, digits, '_', '-' and '.'"},
    {Cause::kSecretKeyForm, "user '{1}': a secret key has 8 to 128 printable characters and no blank"},
    {Cause::kAccessKeyTwice, "user '{1}' has the same access key twice"},
    {Cause::kTooManyGroups, "user '{1}' has more than {2} groups"},
    {Cause::kTooManyKeys, "user '{1}' has more than {2} keys"},
    {Cause::kTooManyClientRules, "export '{1}' has more than {2} client rules"},
    {Cause::kFlavorTwice, "export '{1}' names a security flavor twice"},
    {Cause::kSidForm, "'{1}' is not a SID such as S-1-5-21-1004336348-1177238915-682003330-2000"},
    {Cause::kNetworkForm, "network '{1}': is not an IPv4 or IPv6 address, a network such as 10.0.0.0/8, or '*'"},
    {Cause::kNetworkPrefix, "network '{1}': the prefix length must be a number from 0 to {2}"},
    {Cause::kNetworkBits, "network '{1}': has address bits behind its prefix length"},
    {Cause::kTokenNameReserved, "the token name '{1}' is that of the data folder's own token"},
    {Cause::kTokenDirectory, "'directory' belongs to the role owner: an owner needs one, and no other role has one"},
    {Cause::kTokenExpiresBefore, "token '{1}' would have expired already"},
    {Cause::kRecordNewer, "the {1} record was written by a newer version of Stoa"},
    {Cause::kRecordDamaged, "the {1} record is damaged"},
    {Cause::kSoftAboveHard, "a soft limit above the hard one would never be passed"},
    {Cause::kOwnersNotCounted, "usage by user and group is not counted in this directory"},
    {Cause::kClassesOfDirectory, "'count' is declared for the directory, with all users and groups in it"},
    {Cause::kRateRange, "limits and guarantees are from 1 to 2^50 a second"},
    {Cause::kGuaranteeAboveLimit, "a guarantee must not be more than the limit of the same QoS class"},
    {Cause::kBurstRange, "a burst is from 10 ms to 1 h"},
    {Cause::kWeightRange, "a weight is from 1 to 10000"},
    {Cause::kRecycleDays, "a recycle bin keeps at most {1} days"},
    {Cause::kItemForm, "an item of a recycle bin is two numbers with a '-' between"},
    {Cause::kItemUnknown, "there is no such item in a recycle bin"},
    {Cause::kBinNotEmpty, "its recycle bin is not empty"},
    {Cause::kBinName, "the name belongs to the recycle bin"},
    {Cause::kInBin, "what is in a recycle bin can be restored or purged only"},
    {Cause::kSealed, "it is or lies in a sealed directory, in which nothing can change"},
    {Cause::kRestoreByAdmin, "only an administrator may restore here"},
    {Cause::kRestoreByOwner, "only a user who deleted or owns it may restore it"},
    {Cause::kPurgeByAdmin, "some of it is in a recycle bin from which only an administrator may restore or purge"},
    {Cause::kRestoreElsewhere, "the place is not below the directory that is owned"},
    {Cause::kRestoreNameTaken, "something of that name is there again"},
    {Cause::kRestorePlaceInBin, "the directory where it was lies in a recycle bin itself"},
    {Cause::kRestorePlaceGone, "the directory where it was is gone"},
    {Cause::kAclTooLarge, "the access control list is too large"},
    {Cause::kAclModeRoom, "the access control list has no room for the mode"},
    {Cause::kAclInheritedByFile, "only directories pass entries of an access control list on"},
    {Cause::kAclChmodRefused, "the directory refuses chmod of files that have an access control list"},
    {Cause::kAclLineForm, "line {1}: '{2}' is not TYPE:FLAGS:WHO:RIGHTS"},
    {Cause::kAclLineTwice, "line {1}: '{2}' is there already"},
    {Cause::kAclListFlag, "line {1}: '{2}' is no flag; known: auto_inherit, protected, defaulted"},
    {Cause::kAclPolicy, "line {1}: '{2}' is no policy; known: keep, mask, replace, refuse"},
    {Cause::kAclEntries, "line {1}: more than {2} entries"},
    {Cause::kAclType, "line {1}: '{2}' is neither A (allow) nor D (deny)"},
    {Cause::kAclEntryFlag, "line {1}: '{2}' is no flag of an entry; known: f d n i I g"},
    {Cause::kAclRight, "line {1}: '{2}' is no right; known: r w a D d x t T n N c C o y e E"},
    {Cause::kAclWho, "line {1}: '{2}' is no known {3}; give a number, OWNER@, GROUP@, EVERYONE@, name@domain or a SID"},
    {Cause::kTooDeep, "directories may lie {1} deep"},
    {Cause::kMoveBelowItself, "a directory cannot move below itself"},
    {Cause::kNameDangling, "a name leads to a file that is not there"},
    {Cause::kContentDamaged, "stored bytes do not match their checksum"},
    {Cause::kTooManyPieces, "the file would be in too many pieces"},
    {Cause::kFileNotFree, "a file was not free in time"},
    {Cause::kCursorForm, "this is no cursor of this volume's journal"},
    {Cause::kCursorAhead, "the journal has not come as far as this cursor"},
    {Cause::kMetadataFull, "the disk of the metadata is full"},
    {Cause::kMetadataRecovers, "the metadata store recovers from a full disk"},
    {Cause::kMetadataLate, "the metadata store was not done with earlier changes in time"},
    {Cause::kMetadataFailed, "the metadata store failed; no change is accepted until stoad is started again"},
    {Cause::kMetadataMissing, "there is no metadata database in {1}"},
    {Cause::kVolumeExists, "there is a volume already"},
    {Cause::kVolumeMissing, "there is no volume here"},
    {Cause::kVolumeEarly,
     "this volume was made by a development version of Stoa before 0.1.0, and this version cannot read it; nothing was "
     "changed"},
    {Cause::kVolumeNewer, "the volume was written by a newer version of Stoa"},
    {Cause::kBlobNone, "no blob directory is given"},
    {Cause::kBlobTooMany, "there can be at most {1} blob directories"},
    {Cause::kBlobNotDirectory, "the blob directory {1} is no directory"},
    {Cause::kBlobInUse, "the blob directory {1} is in use by another process"},
    {Cause::kBlobChanged, "the blob directory {1} was changed by another process"},
    {Cause::kBlobOtherVolume,
     "the blob directory {1} belongs to volume '{2}' of the data folder '{3}', not to volume '{4}' with its metadata "
     "in '{5}'; nothing was changed"},
    {Cause::kBlobFolderCopied,
     "the blob directory {1} is that of the data folder {2}, which holds this volume, too: {3} is a copy of it; "
     "nothing was changed"},
    {Cause::kBlobOlder,
     "the blob directory is older than the metadata, or of another copy: {1} is of start {2}, {3} of start {4} of "
     "volume {5}; nothing was changed"},
    {Cause::kBlobNewer,
     "the metadata are older than the blob directory, or of another copy: {1} is of start {2}, {3} of start {4} of "
     "volume {5}; nothing was changed"},
    {Cause::kBlobDiverged,
     "blob directory and metadata are of two copies that were both started: {1} of start {2}, {3} of start {4} of "
     "volume {5}; nothing was changed"},
    {Cause::kBlobMixed, "the blob directories {1} and {2} belong to different volumes"},
    {Cause::kBlobCopy, "the blob directory {1} is a copy of {2}"},
    {Cause::kBlobMissing, "blob directory number {1} of those that {2} belongs to is missing"},
    {Cause::kBlobUnmounted,
     "blob directory number {1} of those that {2} belongs to is missing, and {3} holds no data: is its disk mounted?"},
    {Cause::kBlobEmpty, "{1} holds no data of the volume: is its disk mounted?"},
    {Cause::kBlobIdentityDamaged, "the file {1} cannot be understood"},
    {Cause::kBlobIdentityMissing, "the blob directory {1} holds content, but its file identity is missing"},
    {Cause::kBlobNumberMissing, "the file {1} is missing"},
    {Cause::kBlobEarly,
     "{1} holds the content of a development version of Stoa before 0.1.0, which this version cannot read"},
    {Cause::kBlobFormatNewer, "the blob directory {1} was written by a newer version of Stoa"},
    {Cause::kBlobNotEmpty, "the blob directory {1} is not empty ({2}), so it is not taken as a new one"},
    {Cause::kBlobHoldsVolume, "the blob directory {1} holds the content of volume '{2}' of the data folder '{3}'"},
    {Cause::kBlobFull, "the blob directory {1} is nearly full"},
    {Cause::kBlobNoneHealthy, "no blob directory is healthy"},
    {Cause::kTokenMissing, "the request needs the header 'Authorization: Bearer TOKEN'"},
    {Cause::kTokenUnknown, "the token is not known (any more)"},
    {Cause::kTokenExpired, "the token '{1}' has expired at {2}"},
    {Cause::kRoleTooLow, "the token '{1}' has the role {2}; this needs the role {3}"},
    {Cause::kRoleOrOwner, "the token '{1}' has the role {2}; this needs the role {3}, or owner of the directory"},
    {Cause::kOwnerElsewhere, "the token '{1}' has the role {2} of a directory; this is not in it"},
    {Cause::kOwnerOfThis,
     "the token '{1}' has the role {2} of this directory; settings of the directory itself need the role operator or "
     "one above it"},
    {Cause::kUncountedBinRole,
     "a recycle bin that is not counted takes a token with the role operator or one above it"},
    {Cause::kTooManyRequests, "too many requests; ask again in {1} s"},
    {Cause::kTooManyWrongTokens, "too many wrong tokens; ask again in {1} s"},
    {Cause::kRouteUnknown, "there is nothing at {1}"},
    {Cause::kMethodWrong, "the method must be {1}"},
    {Cause::kBodyNotJson, "the body is not JSON"},
    {Cause::kBodyNotObject, "the body must be a JSON object"},
    {Cause::kMemberUnknown, "there is no member '{1}' in this request; there are: {2}"},
    {Cause::kMemberTwice, "'{1}' is given twice"},
    {Cause::kMemberMissing, "'{1}' is missing"},
    {Cause::kMemberForm, "'{1}' {2}"},
    {Cause::kParameterUnknown, "there is no parameter '{1}' here; there are: {2}"},
    {Cause::kParameterMissing, "the parameter '{1}' is missing"},
    {Cause::kParameterForm, "the parameter '{1}' must be {2}"},
    {Cause::kParameterChoice, "give one of {1}"},
    {Cause::kTargetForm,
     "'{1}' is neither /a/directory nor user:NAME, group:NAME, client:NETWORK, protocol:NAME, export:NAME or "
     "background"},
    {Cause::kPathUnknown, "there is no '{1}' in the volume"},
    {Cause::kPathTaken, "there is a '{1}' in the volume already"},
    {Cause::kPathThroughFile, "a part of '{1}' is no directory"},
    {Cause::kPathNotDirectory, "'{1}' is not a directory"},
    {Cause::kPathIsLink, "'{1}' is a symbolic link; it has no permissions of its own"},
    {Cause::kPathNotAbsolute, "'{1}' must be a path of the volume, from its root on"},
    {Cause::kPathDots, "the path '{1}' must not hold '.' and '..'"},
    {Cause::kDirectoryUnknown, "there is no directory '{1}' in the volume"},
    {Cause::kProtocolUnknown, "there is no protocol '{1}'; there are nfs, s3 and native"},
    {Cause::kProtocolMissing, "say through which 'protocols' it is published: nfs, s3, native"},
    {Cause::kFlavorUnknown, "there is no security flavor '{1}'; there are sys, krb5, krb5i and krb5p"},
    {Cause::kFlavorNotOffered, "export '{1}' cannot ask for {2}: {3}"},
    {Cause::kNfsOff, "NFS is switched off on this server"},
    {Cause::kNativeTlsMissing,
     "export '{1}' cannot require TLS of native clients: this server has no certificate for them"},
    {Cause::kKeytabMissing, "this server has no keytab"},
    {Cause::kKeytabUnreadable, "the keytab {1} of this server cannot be read any more"},
    {Cause::kNobodyReaches, "export '{1}' is published through nfs, but no client network may use it"},
    {Cause::kNoFreeNumber, "no number from 1000 to 59999 is free for a user or group"},
    {Cause::kKeyHalf, "'access_key' and 'secret_key' belong together; give both, or none for fresh ones"},
    {Cause::kKeyUnknown, "user '{1}' has no access key '{2}'"},
    {Cause::kClientUnknown, "there is no client '{1}' (any more)"},
    {Cause::kNoLimits, "'{1}' has no limits of its own"},
    {Cause::kNoQuota, "'{1}' has no quota of that kind"},
    {Cause::kQuotaEmpty, "give 'bytes', 'files', 'soft_bytes' or 'soft_files'; DELETE takes a quota away"},
    {Cause::kNoRecyclePolicy, "'{1}' has no recycle policy of its own"},
    {Cause::kNoAuditPolicy, "'{1}' has no policy of audit of its own"},
    {Cause::kNoAuditLog, "there is no audit log here"},
    {Cause::kAuditBehind, "the audit log is behind the journal"},
    {Cause::kAuditDayForm, "'{1}' is not a day such as 2026-11-22"},
    {Cause::kAuditDayUnknown, "there is no audit log of {1}"},
    {Cause::kAuditDayDamaged, "the summary of {1} is damaged"},
    {Cause::kNoWatch, "nothing can be watched here"},
    {Cause::kTooManyWatchers, "there are {1} watchers already, the most there can be"},
    {Cause::kCursorGone, "the journal no longer has the changes behind this cursor; the oldest cursor is {1}"},
    {Cause::kCheckRuns, "a check is running already"},
};

// Where there is no cause.
constexpr CodeSentence kCodeSentences[] = {
    {Errc::kNotFound, "there is no such name, object or record"},
    {Errc::kExists, "the name is taken"},
    {Errc::kNotDirectory, "only a directory will do here"},
    {Errc::kIsDirectory, "a directory will not do here"},
    {Errc::kNotEmpty, "the directory is not empty"},
    {Errc::kAccess, "permissions refuse it"},
    {Errc::kNotOwner, "only the owner or the superuser may do it"},
    {Errc::kReadOnly, "it is read-only"},
    {Errc::kInvalid, "a value has no meaning here"},
    {Errc::kNameTooLong, "the name is too long"},
    {Errc::kWrongType, "an object of this type does not allow it"},
    {Errc::kQuota, "a quota of the directory or of one above refuses it"},
    {Errc::kNoSpace, "the volume is full"},
    {Errc::kFileTooBig, "the file would be larger than files can be"},
    {Errc::kTooManyLinks, "the file has as many names as it can have"},
    {Errc::kCrossDevice, "the two are not of one volume"},
    {Errc::kBadHandle, "the volume never gave out this handle"},
    {Errc::kStale, "it is there no longer"},
    {Errc::kBadCookie, "the directory never gave out this cookie"},
    {Errc::kGuardMismatch, "it was changed meanwhile"},
    {Errc::kPreconditionFailed, "it is not the version that the request expects"},
    {Errc::kNoAttribute, "there is no such attribute"},
    {Errc::kTooLarge, "a value, list or request is larger than its limit"},
    {Errc::kNoMoreData, "there is neither data nor hole behind this place"},
    {Errc::kNotSupported, "this server does not offer it"},
    {Errc::kRecallPending, "another client must give its lease back first; ask again"},
    {Errc::kLeaseLost, "the lease under which it was cached is gone"},
    {Errc::kShareConflict, "another client has it open and denies this"},
    {Errc::kLocked, "another client has locked it"},
    {Errc::kDeadlock, "to wait for this lock would be a deadlock"},
    {Errc::kBusy, "the server is busy; ask again"},
    {Errc::kTimeout, "it was not done in time"},
    {Errc::kIo, "a disk or connection of the server failed"},
    {Errc::kCorrupt, "stored bytes are damaged"},
    {Errc::kShutdown, "the server is stopping"},
};

}  // namespace

std::string_view sentence_template(Cause cause) {
  const auto found = std::ranges::find(kCauseSentences, cause, &CauseSentence::cause);
  return found == std::end(kCauseSentences) ? std::string_view() : found->text;
}

std::string_view sentence_template(Errc code) {
  const auto found = std::ranges::find(kCodeSentences, code, &CodeSentence::code);
  return found == std::end(kCodeSentences) ? std::string_view() : found->text;
}

std::string fill(std::string_view text, const std::vector<std::string>& arguments) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool place =
        text[i] == '{' && i + 2 < text.size() && text[i + 1] >= '1' && text[i + 1] <= '9' && text[i + 2] == '}';
    if (!place) {
      out += text[i];
      continue;
    }
    const auto number = static_cast<std::size_t>(text[i + 1] - '1');
    if (number < arguments.size()) out += arguments[number];
    i += 2;
  }
  return out;
}

std::string sentence(const Error& error) {
  std::string text = error.cause != Cause::kNone ? fill(sentence_template(error.cause), error.arguments)
                                                 : std::string(sentence_template(error.code));
  if (error.sys_errno != 0) text += " (" + std::generic_category().message(error.sys_errno) + ")";
  return text;
}

std::string_view cause_word(const Error& error) {
  return error.cause != Cause::kNone ? to_string(error.cause) : to_string(error.code);
}

}  // namespace stoa::admin
