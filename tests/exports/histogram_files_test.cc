// SPDX-License-Identifier: Apache-2.0
// Compares with HdrHistogram 2.1.11, the Java original (libhdrhistogram-java of Debian), for the same values: its
// encodeIntoByteBuffer() in base64, and the CRC-32 and some lines of its outputPercentileDistribution(System.out, 5,
// 1000.0).
#include "profiler/exports/histogram_files.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace icepath::exports {
namespace {

constexpr const char *kEncodedByJava =
	"HISTEwAAA0oAAAAAAAAAAwAAAAAAAAABAAAAAABZ7/8/8AAAAAAAAALzAdgEoQ4CjQwCtwQCnQkCIQLNBwLHAQLNAwKBAwKRAgIl"
	"AvEDAtEBAvkBApsCAr8BAuUCArsEAk8ChQICQQLrAQJdAtMCAt0CAukBAnkChQICWwKPAQLHAQLPAQLRAQIC1QECBwLlAQLpAQLt"
	"AQLzAQI/AmECIwKBAQKDAQKFAQKJAQI/AkcCQwKRAQKVAQKVAQKXAQJhAjcCYwKjAQKXAQJRAlMCPwITAj8CVwJZAlkCWwJPAgsC"
	"TwJhAl8CYwJjAl0CAwJhAmcCaQJpAmsCbQICPwI1AjcCNwI5AjkCAAI7AjkCOwI9AjsCPQIHAj0CPwI/Aj8CPwJBAgsCQQJDAkMC"
	"QwJFAkUCDwJFAkcCRwJHAkkCRwITAiUCIwIlAiUCIwIlAgsCJQIlAicCJwIlAicCDQInAicCKQIpAicCKQIPAikCKwIpAisCKwIr"
	"Ag8CKwItAisCLQItAi0CEQIvAi0CLwItAi8CLwIVAi8CLwIxAjECMQIxAhUCHwIZAhcCFwIZAhcCCwIZAhcCGQIZAhkCGQILAhsC"
	"GQIZAhkCGwIZAg0CGwIbAhkCGwIbAhsCDwIbAhsCGwIdAhsCHQINAh0CHQIdAh0CHQIdAg8CHQIdAh8CHQIfAh0CEQIfAh0CHwIf"
	"Ah8CHwITAh8CHwIfAiECHwIhAhMCHwIhAiECIQIhAiECEwIRAg8CDwIPAhECDwIJAg8CEQIPAhECDwIRAgkCDwIRAhECDwIRAhEC"
	"CQIRAhECEQIRAhECEQILAhECEQIRAhECEwIRAgsCEQITAhECEwIRAhMCCwITAhECEwITAhECEwINAhECEwITAhMCEwITAg0CEwIT"
	"AhUCEwITAhMCDQIVAhMCFQITAhUCEwINAhUCFQITAhUCFQIVAg0CFQIVAhUCFQIVAhUCDwIVAhUCFQIVAhcCFQIPAhUCFwIVAhcC"
	"FQIXAg8CEwIJAgkCCwIJAgsCBQILAgkCCwIJAgsCCQIHAgsCCQILAgkCCwILAgcCCQILAgsCCwIJAgsCBwILAgsCCwILAgsCCwIH"
	"AgsCCwILAgsCCwILAgcCCwILAg0CCwILAgsCBwINAgsCCwILAg0CCwIJAgsCCwINAgsCCwINAgkC";
constexpr uint32_t kDistributionCrc = 0x8dcb96a1;
constexpr size_t kDistributionBytes = 2913;

stats::HdrHistogram same_values()
{
	stats::HdrHistogram histogram;
	for (uint64_t i = 0; i < 400; i++)
		histogram.add(i * i * 37 + i % 7 * 1000);
	for (int i = 0; i < 300; i++)
		histogram.add(123);
	return histogram;
}

std::string from_base64(const std::string &text)
{
	const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	std::string bytes;
	uint32_t bits = 0;
	int count = 0;
	for (const char c : text) {
		if (c == '=')
			break;
		bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
		if ((count += 6) >= 8)
			bytes += static_cast<char>(bits >> (count -= 8));
	}
	return bytes;
}

std::string unpacked(const std::string &compressed)
{
	std::string plain(1 << 20, 0);
	uLongf size = plain.size();
	EXPECT_EQ(uncompress(reinterpret_cast<Bytef *>(plain.data()), &size,
						 reinterpret_cast<const Bytef *>(compressed.data()) + 8, compressed.size() - 8),
			  Z_OK);
	plain.resize(size);
	return plain;
}

uint32_t crc_of(const std::string &text)
{
	return static_cast<uint32_t>(
		crc32(0, reinterpret_cast<const Bytef *>(text.data()), static_cast<uInt>(text.size())));
}

TEST(HistogramFiles, EncodesAsTheOriginal)
{
	const std::string packed = v2_compressed(same_values());
	EXPECT_EQ(packed.substr(0, 4), std::string("\x1c\x84\x93\x14", 4));
	EXPECT_EQ(unpacked(packed), from_base64(kEncodedByJava));
}

TEST(HistogramFiles, ALineOfALogCarriesTheEncodedHistogram)
{
	const stats::HdrHistogram histogram = same_values();
	const std::string line = histogram_log_line("a-cell", 1.5, 0.25, histogram);
	const size_t last = line.rfind(',') + 1;
	EXPECT_EQ(line.substr(0, last), "Tag=a-cell,1.500,0.250,5.894,");
	EXPECT_EQ(from_base64(line.substr(last)), v2_compressed(histogram));
}

TEST(HistogramFiles, PrintsTheDistributionAsTheOriginal)
{
	const std::string text = hgrm_of(same_values());
	EXPECT_NE(text.find("      91.263 0.500000000000        350           2.00\n"), std::string::npos) << text;
	EXPECT_EQ(text.size(), kDistributionBytes);
	EXPECT_EQ(crc_of(text), kDistributionCrc) << text;
}

TEST(HistogramFiles, OfNothingAreWhole)
{
	EXPECT_NE(hgrm_of({}).find("Total count    =            0]"), std::string::npos) << hgrm_of({});
	EXPECT_EQ(unpacked(v2_compressed({})).size(), 40u);
}

} // namespace
} // namespace icepath::exports
