// libnfs's raw interface. Its headers rely on being included in this order.
#pragma once

// clang-format off
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
// clang-format on
