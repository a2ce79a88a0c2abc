// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests that nobody meant.
#include <cstddef>
#include <cstdint>
#include <random>

namespace icepath::privilege {

// Any bytes, of which a third of the words are small numbers.
template <class Request> Request random_request(std::mt19937 &random)
{
	Request request{};
	auto *words = reinterpret_cast<uint32_t *>(&request);
	for (size_t word = 0; word < sizeof(request) / sizeof(*words); word++)
		words[word] = static_cast<uint32_t>(random() % 3 ? random() : random() % 4);
	return request;
}

} // namespace icepath::privilege
