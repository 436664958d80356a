// libnfs sends each call with a send() of its own and reads each reply with two recv(). At a hundred thousand small
// calls a second that makes the generator the bottleneck. This file's send() and recv() stand before those of the C
// library for the sockets named here: small sends are gathered until flush(), and one recv() reads ahead for many.
#pragma once

#include <cstddef>

namespace stoa::bench {

// `fd` is gathered and read ahead from now on; it must be non-blocking and have nothing read or sent half.
void batch_socket(int fd);
// Sends the gathered bytes; false when the peer is gone. Bytes that the socket does not take now stay for the next
// flush.
bool flush_socket(int fd);
bool has_unsent(int fd);
bool has_read_ahead(int fd);

}  // namespace stoa::bench
