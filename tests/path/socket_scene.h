// SPDX-License-Identifier: Apache-2.0
#pragma once
// A message over a UNIX socket with a fixed sending side, for tests of the taking side.
#include <string>

#include "tests/path/scene.h"

namespace icepath::path {

// A UNIX socket: sent at 100, call [110, 150), ready at 140.
inline Scene sent_at_100()
{
	Scene scene;
	scene.delivery.send = at(100);
	scene.transfer().call = at(110);
	scene.transfer().call_return = at(150);
	scene.transfer().ready = at(140);
	scene.transfer().ready_tid = kSender;
	return scene;
}

inline Scene taken(Scene scene, uint64_t ask, uint64_t call, uint64_t back, uint64_t recv)
{
	scene.transfer().ask = at(ask);
	scene.transfer().take_call = at(call);
	scene.transfer().take_return = at(back);
	scene.delivery.recv = at(recv);
	return scene;
}

// Taken by a poller in the call from 125 to 145. Only the calibration places "ready".
inline Scene taken_in_call(double ready, double taken_share)
{
	Scene scene = taken(sent_at_100(), 50, 125, 145, 190);
	scene.transfer().polls = true;
	scene.transfer().ready.reset();
	scene.transfer().ready_tid = 0;
	scene.transfer().shares = {ready, taken_share};
	return scene;
}

inline constexpr const char *kHead = "0:sender.user 10 | 0:sender.kernel 30 | ";

inline std::string after_head(const Scene &scene)
{
	std::string text = scene.text();
	return text.starts_with(kHead) ? text.substr(std::string(kHead).size()) : text;
}

} // namespace icepath::path
