# SPDX-License-Identifier: Apache-2.0
# What each end of a channel offers to the other.
@0xd1c3f8a5b27e9046;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("icepath::wire");

interface Channel {
  push @0 (message :Data) -> stream;
}
