/* The page that the torture and the library it preloads into a server share: what the disks are to do from now on. */
#pragma once

#include <stdint.h>

enum { STOA_DISK_METADATA, STOA_DISK_CONTENT, STOA_DISKS }; /* the folder meta, the folders of blobs */

struct stoa_disk_faults {
  uint32_t write_errno; /* of writes and allocations; 0: they are done */
  uint32_t sync_errno;
  uint32_t read_errno;
  uint32_t delay_us; /* before each of them */
};

struct stoa_faults {
  struct stoa_disk_faults disk[STOA_DISKS];
};
