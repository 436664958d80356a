#include "appliance/cli/remedies.h"

#include <algorithm>
#include <iterator>

namespace stoa::cli {
namespace {

struct CauseRemedy {
  Cause cause;
  std::string_view text;
};
struct CodeRemedy {
  Errc code;
  std::string_view text;
};

constexpr CauseRemedy kCauseRemedies[] = {
    {Cause::kNameTaken, "choose another name, or change the one that is there"},
    {Cause::kNumberTaken, "give another number, or none to have one chosen"},
    {Cause::kTooManyRecords, "remove those that nobody needs"},
    {Cause::kExportOwnerUnknown, "create the user first: stoa user create NAME"},
    {Cause::kUserOwnsExport,
     "remove the export (stoa export remove NAME), or give it another owner (stoa export set NAME --owner USER)"},
    {Cause::kRecordNewer, "start the version of Stoa that wrote it"},
    {Cause::kRecordDamaged, "restore the metadata and all blob directories from one backup"},
    {Cause::kSoftAboveHard, "give a soft limit below the hard one"},
    {Cause::kOwnersNotCounted, "begin to count: stoa quota count-owners DIRECTORY"},
    {Cause::kClassesOfDirectory, "leave out --user and --group: stoa quota set DIRECTORY --count CLASSES"},
    {Cause::kItemUnknown, "look for it: stoa recycle list DIRECTORY"},
    {Cause::kBinNotEmpty, "empty it first: stoa recycle purge DIRECTORY --all"},
    {Cause::kBinName, "choose another name"},
    {Cause::kInBin, "restore it first: stoa recycle restore ITEM"},
    {Cause::kSealed, "see which directory it is (stoa sealed PATH), and allow changes again: stoa unseal DIRECTORY"},
    {Cause::kRestoreByAdmin, "ask for a token with the role operator or admin"},
    {Cause::kRestoreByOwner, "ask an administrator to restore it"},
    {Cause::kPurgeByAdmin, "ask for a token with the role operator or admin"},
    {Cause::kRestoreElsewhere, "restore it to a directory that is: --to PATH"},
    {Cause::kRestoreNameTaken, "restore it elsewhere, or under another name: --to PATH"},
    {Cause::kRestorePlaceInBin, "restore that directory first, or this elsewhere: --to PATH"},
    {Cause::kRestorePlaceGone, "restore it elsewhere: --to PATH"},
    {Cause::kAclTooLarge, "give rights to groups in place of many users"},
    {Cause::kAclModeRoom, "take entries out of the list: stoa acl set PATH FILE"},
    {Cause::kAclInheritedByFile, "leave out the flags f, d, n and i"},
    {Cause::kAclChmodRefused,
     "set the list in its place (stoa acl set), or another policy (stoa acl set DIRECTORY --chmod keep)"},
    {Cause::kNameDangling, "run stoa check, and restore the file from a backup"},
    {Cause::kContentDamaged, "put the file back from a copy; stoa check --read-data looks for more"},
    {Cause::kTooManyPieces, "copy the file, and put the copy in its place"},
    {Cause::kFileNotFree, "try again in a moment"},
    {Cause::kCursorForm, "begin without a cursor, or with one that stoa watch printed"},
    {Cause::kCursorAhead, "begin without a cursor: the volume may be an older copy"},
    {Cause::kMetadataFull, "free space on the disk of the data folder"},
    {Cause::kMetadataRecovers, "free space on the disk of the data folder, and try again in a moment"},
    {Cause::kMetadataLate, "try again in a moment; see stoa status when it goes on"},
    {Cause::kMetadataFailed, "look into the log of stoad, mend the disk, and start stoad again"},
    {Cause::kMetadataMissing, "restore the data folder from a backup, or create a volume: stoa volume create"},
    {Cause::kVolumeExists, "choose another folder with --data"},
    {Cause::kVolumeMissing, "create one: stoa volume create"},
    {Cause::kVolumeEarly,
     "serve it with the version that made it, make a new volume in another data folder (--data), and copy the content "
     "over"},
    {Cause::kVolumeNewer, "start that version"},
    {Cause::kBlobNone, "name at least one with blob_directories"},
    {Cause::kBlobTooMany, "name fewer with blob_directories"},
    {Cause::kBlobNotDirectory, "name another with blob_directories"},
    {Cause::kBlobInUse, "stop that first, or name a directory of its own"},
    {Cause::kBlobChanged, "stop the other process, and start again"},
    {Cause::kBlobOtherVolume, "name the directories of this volume, or an empty one"},
    {Cause::kBlobFolderCopied,
     "give the copy blob directories of its own, copied while no stoad runs; or rename the other folder, if the copy "
     "is to go on in its place"},
    {Cause::kBlobOlder,
     "put together what is of one time: restore the metadata and all blob directories from one backup"},
    {Cause::kBlobNewer,
     "put together what is of one time: restore the metadata and all blob directories from one backup"},
    {Cause::kBlobDiverged, "name the blob directories that belong to these metadata, or restore both from one backup"},
    {Cause::kBlobMixed, "name the directories of one volume"},
    {Cause::kBlobCopy, "name one of the two"},
    {Cause::kBlobMissing, "name it again with blob_directories"},
    {Cause::kBlobUnmounted, "mount it, or restore it from a backup"},
    {Cause::kBlobEmpty, "mount it, or restore it from a backup"},
    {Cause::kBlobIdentityDamaged, "put this file back from a backup of the directory"},
    {Cause::kBlobIdentityMissing, "restore it from a backup of the directory"},
    {Cause::kBlobNumberMissing, "restore it from a backup of the directory"},
    {Cause::kBlobEarly, "name an empty directory, or start the version that wrote it"},
    {Cause::kBlobFormatNewer, "start that version"},
    {Cause::kBlobNotEmpty, "name an empty one"},
    {Cause::kBlobHoldsVolume, "name an empty one"},
    {Cause::kBlobFull, "free space, or add a blob directory"},
    {Cause::kBlobNoneHealthy, "see stoa status, and mend the disks"},
    {Cause::kTokenMissing, "name a token with --token-file or STOA_TOKEN; that of the data folder is in admin.token"},
    {Cause::kTokenUnknown, "use the token of this data folder (admin.token), or one of stoa token add"},
    {Cause::kTokenExpired, "make another: stoa token add NAME"},
    {Cause::kRoleTooLow, "ask for a token with that role"},
    {Cause::kRoleOrOwner, "ask for a token with that role, or of an owner"},
    {Cause::kOwnerElsewhere, "ask for a token with the role operator"},
    {Cause::kOwnerOfThis, "ask for a token with the role operator"},
    {Cause::kUncountedBinRole, "ask for a token with the role operator, or count it: --counted yes"},
    {Cause::kRouteUnknown, "the server may be older than this stoa; see stoa version"},
    {Cause::kMethodWrong, "the server may be older than this stoa; see stoa version"},
    {Cause::kMemberUnknown, "the server may be older than this stoa; see stoa version"},
    {Cause::kParameterUnknown, "the server may be older than this stoa; see stoa version"},
    {Cause::kPathUnknown, "look for it: stoa ls DIRECTORY"},
    {Cause::kPathTaken, "choose another name"},
    {Cause::kPathThroughFile, "look at the way: stoa ls DIRECTORY"},
    {Cause::kPathNotDirectory, "name a directory"},
    {Cause::kPathIsLink, "name the file that it points to"},
    {Cause::kPathNotAbsolute, "begin it with /"},
    {Cause::kDirectoryUnknown, "make it first, or ask for it with --create"},
    {Cause::kProtocolMissing, "give --protocol nfs, s3 or native; may be repeated"},
    {Cause::kNfsOff, "set nfs.enabled, and start stoad again"},
    {Cause::kNativeTlsMissing, "set native.tls_certificate and native.tls_key, and start stoad again"},
    {Cause::kKeytabMissing, "set nfs.keytab to a file with the keys of nfs/HOST@REALM, and start stoad again"},
    {Cause::kKeytabUnreadable, "put it back"},
    {Cause::kFlavorNotOffered, "give the server a keytab (nfs.keytab), or leave the flavor out of --sec"},
    {Cause::kNobodyReaches, "give --client NETWORK, such as 10.0.0.0/8, or * for everyone"},
    {Cause::kNoFreeNumber, "give one with --uid or --gid"},
    {Cause::kKeyUnknown, "see the keys: stoa user key list NAME"},
    {Cause::kClientUnknown, "see the clients: stoa client list"},
    {Cause::kNoLimits, "see those that are set: stoa qos list"},
    {Cause::kNoQuota, "see those that are set: stoa quota list"},
    {Cause::kQuotaEmpty, "take it away: stoa quota remove DIRECTORY"},
    {Cause::kNoRecyclePolicy, "see those that are set: stoa recycle policies"},
    {Cause::kNoAuditPolicy, "see those that are set: stoa audit policy list"},
    {Cause::kAuditBehind, "try again in a moment"},
    {Cause::kAuditDayUnknown, "see which there are: stoa audit query"},
    {Cause::kAuditDayDamaged, "look whether the log is whole: stoa audit verify"},
    {Cause::kTooManyWatchers, "end some of them"},
    {Cause::kCursorGone, "read the tree anew, and watch from now on: without --cursor"},
    {Cause::kCheckRuns, "wait for its end: stoa check"},
    {Cause::kMoveBelowItself, "choose another place"},
};

// Where there is no cause.
constexpr CodeRemedy kCodeRemedies[] = {
    {Errc::kQuota, "see which quota is full: stoa explain PATH"},
    {Errc::kNoSpace, "free space, or add a blob directory; stoa du tells where space is used"},
    {Errc::kBusy, "try again in a moment"},
    {Errc::kTimeout, "try again in a moment"},
    {Errc::kRecallPending, "try again in a moment"},
    {Errc::kLocked, "see which client has it: stoa explain PATH"},
    {Errc::kShareConflict, "see which client has it: stoa explain PATH"},
    {Errc::kNotEmpty, "empty it first"},
    {Errc::kIo, "see stoa status, and look into the log of stoad"},
    {Errc::kCorrupt, "run stoa check, and restore what is damaged from a backup"},
    {Errc::kStale, "look at what is there now, and try again"},
};

struct ProblemRemedy {
  std::string_view kind;
  std::string_view text;
};

constexpr ProblemRemedy kProblemRemedies[] = {
    {"metadata_failed", "mend the disk, then restart stoad; what was acknowledged as durable is there"},
    {"metadata_stalled", "free space on its file system, or make it larger; it goes on by itself"},
    {"metadata_full", "remove files or empty recycle bins, free space on its file system, or make it larger"},
    {"blob_directory",
     "mend or mount its disk, then restart stoad; stoa check --read-data names the files that miss content"},
    {"damage", "restore these files from a backup"},
    {"kept_content",
     "if metadata were lost, stop stoad and restore the data folder and all blob directories from one backup; if not, "
     "stop it and free them: stoa volume sweep"},
};

}  // namespace

std::string_view remedy(const Error& error) {
  if (error.cause != Cause::kNone) {
    const auto found = std::ranges::find(kCauseRemedies, error.cause, &CauseRemedy::cause);
    return found == std::end(kCauseRemedies) ? std::string_view() : found->text;
  }
  const auto found = std::ranges::find(kCodeRemedies, error.code, &CodeRemedy::code);
  return found == std::end(kCodeRemedies) ? std::string_view() : found->text;
}

std::string_view problem_remedy(std::string_view kind) {
  const auto found = std::ranges::find(kProblemRemedies, kind, &ProblemRemedy::kind);
  return found == std::end(kProblemRemedies) ? std::string_view() : found->text;
}

}  // namespace stoa::cli
