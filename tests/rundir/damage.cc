// SPDX-License-Identifier: Apache-2.0
#include "tests/rundir/damage.h"

#include <cstring>

#include "profiler/rundir/chunk.h"

namespace icepath::rundir {

void mend_checksums(std::string &bytes)
{
	for (size_t at = sizeof kMagic; at + sizeof(ChunkHeader) <= bytes.size();) {
		ChunkHeader header;
		std::memcpy(&header, bytes.data() + at, sizeof header);
		const size_t body = at + sizeof header;
		if (header.stored_bytes > bytes.size() - body)
			return;
		header.crc32 = chunk_crc32(header, std::as_bytes(std::span(bytes).subspan(body, header.stored_bytes)));
		std::memcpy(bytes.data() + at, &header, sizeof header);
		at = body + header.stored_bytes;
	}
}

std::string unpacked(const std::string &bytes)
{
	std::string plain = bytes.substr(0, sizeof kMagic);
	Unpacker unpacker;
	for (size_t at = sizeof kMagic; at < bytes.size();) {
		ChunkHeader header;
		std::memcpy(&header, bytes.data() + at, sizeof header);
		at += sizeof header;
		const auto payload = unpacker.unpack(header, std::as_bytes(std::span(bytes).subspan(at, header.stored_bytes)));
		at += header.stored_bytes;
		header.flags = 0;
		header.stored_bytes = payload.size();
		plain.append(reinterpret_cast<const char *>(&header), sizeof header);
		plain.append(reinterpret_cast<const char *>(payload.data()), payload.size());
	}
	mend_checksums(plain);
	return plain;
}

std::string damaged(const std::string &bytes, std::mt19937 &random)
{
	static const std::string kCharacters = "0123456789-.e\"[]{},:ntf\\ \xff";
	std::string changed = bytes;
	for (unsigned n = 1 + random() % 4; n > 0; --n) {
		const size_t at = random() % changed.size();
		switch (random() % 4) {
		case 0:
			changed[at] = static_cast<char>(random());
			break;
		case 1:
			changed[at] = kCharacters[random() % kCharacters.size()];
			break;
		case 2:
			changed.erase(at, 1 + random() % 16);
			break;
		default:
			changed.insert(at, changed.substr(random() % changed.size(), 1 + random() % 16));
			break;
		}
	}
	mend_checksums(changed);
	return changed;
}

} // namespace icepath::rundir
