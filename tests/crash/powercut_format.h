/* The undo journal that powercut_preload.c writes and powercut.cc rolls back: what a power cut would take away.
 *
 *   JOURNAL/data/INODE   changes of one file since its last fsync or fdatasync, oldest first
 *   JOURNAL/names        changes of directories, oldest first
 *   JOURNAL/saved/SEQ    hard links to files whose name went in change SEQ
 *
 * Every record is written before the change that it undoes, so a process killed between the two loses nothing. */
#pragma once

#include <stdint.h>

#define POWERCUT_MAGIC 0x70637574u
#define POWERCUT_BLOCK 4096u

enum powercut_kind {
  /* data/INODE */
  POWERCUT_BYTES = 1,  /* `length` old bytes at `offset` follow; within one block */
  POWERCUT_ZEROS = 2,  /* the old bytes were zeros (or behind the end); nothing follows; may span blocks */
  POWERCUT_SIZE = 3,   /* the size was `offset` */
  POWERCUT_SYNCED = 4, /* everything before sequence `offset` is safe (also in names, for directory `length64`) */
  /* names: two paths follow, `length` and `length2` bytes */
  POWERCUT_CREATE = 5, /* first path came into being */
  POWERCUT_REMOVE = 6, /* first path went; its file is saved/SEQ */
  POWERCUT_RENAME = 7, /* first path became second; what second was is saved/SEQ, if it exists */
  POWERCUT_MKDIR = 8,
  POWERCUT_RMDIR = 9,
};

struct powercut_record {
  uint32_t magic;
  uint32_t kind;
  uint64_t sequence;
  uint64_t offset;
  uint64_t directory;  /* names: inode of the directory that changed */
  uint64_t directory2; /* names: of the second one (rename), else 0 */
  uint64_t length64;   /* POWERCUT_ZEROS: bytes */
  uint32_t length;     /* bytes that follow: old content, or the first path */
  uint32_t length2;    /* and the second path */
};
