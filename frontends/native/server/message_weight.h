// What a message asks of the server, before it is run: which thread it is for, what it pays, whether it may run twice.
#pragma once

#include "frontends/native/server/native_protocol.h"

namespace stoa::native {

// Cuts the operations of message.view, and weighs them. False: their records are not what the header says.
bool weigh(DecodedMessage& message);

}  // namespace stoa::native
