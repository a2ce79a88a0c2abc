// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/function_name.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/text/columns.h"

namespace icepath::text {
namespace {

constexpr std::string_view kOperator = "operator", kAnonymous = "(anonymous namespace)", kInlined = " (inlined)";

// Goes through the name of a function outside of brackets: of templates, parameters, lambdas and anonymous namespaces.
class OutsideOfBrackets {
public:
	explicit OutsideOfBrackets(std::string_view name) : name_(name) {}

	// The next place outside of brackets; nothing at the end.
	std::optional<size_t> next()
	{
		while (at_ < name_.size()) {
			const size_t place = at_;
			if (depth_ == 0 && is_operator()) { // whose brackets are its name
				at_ += kOperator.size();
				const std::string_view after = name_.substr(at_);
				at_ = after.starts_with("()") || after.starts_with("[]")
						  ? at_ + 2
						  : std::min(name_.find_first_not_of("<>=!+-*/%^&|~,", at_), name_.size());
				if (at_ < name_.size() && name_[at_] == ' ') // a conversion to a type, or operator new
					at_ = std::min(name_.find_first_of("(<", at_), name_.size());
				return place;
			}
			if (name_.substr(at_).starts_with(kAnonymous)) {
				at_ += kAnonymous.size();
				continue;
			}
			const char character = name_[at_++];
			const bool opens = character == '(' || character == '<' || character == '[' || character == '{';
			const bool closes = character == ')' || character == '>' || character == ']' || character == '}';
			if (closes && depth_ > 0)
				--depth_;
			const bool is_outside = depth_ == 0 && !closes;
			depth_ += opens ? 1 : 0;
			if (is_outside)
				return place;
		}
		return std::nullopt;
	}

private:
	bool is_operator() const
	{
		const auto is_of_word = [](char character) {
			return character == '_' || (character >= '0' && character <= '9') ||
				   (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
		};
		const size_t end = at_ + kOperator.size();
		return name_.substr(at_).starts_with(kOperator) && (at_ == 0 || !is_of_word(name_[at_ - 1])) &&
			   end < name_.size() && !is_of_word(name_[end]);
	}

	const std::string_view name_;
	size_t at_ = 0;
	int depth_ = 0;
};

// "a::B<int>::f(long) const" is "a::B<int>::f", and so is "void a::B<int>::f(long)". "f(int)::{lambda(long)#1}" is
// "f::{lambda(long)#1}".
std::string without_parameters(const std::string &name)
{
	size_t begin = 0, end = name.size();
	bool in_operator = false;
	OutsideOfBrackets outside(name);
	while (const auto at = outside.next()) {
		in_operator = in_operator || std::string_view(name).substr(*at).starts_with(kOperator);
		if (name[*at] == '(' || (name[*at] == '[' && *at > 0)) {
			const auto after = outside.next();
			if (after && name[*after] == ':')
				return without_parameters(name.substr(begin, *at - begin) + name.substr(*after));
			end = *at;
			break;
		}
		if (name[*at] == ' ' && !in_operator && !std::string_view(name).substr(*at).starts_with(" ["))
			begin = *at + 1;
	}
	while (end > begin && name[end - 1] == ' ') // as before "[clone .cold]"
		--end;
	return end > begin ? name.substr(begin, end - begin) : name;
}

// "a", "B<int>", "f".
std::vector<std::string> parts_of(const std::string &name)
{
	std::vector<std::string> parts;
	size_t begin = 0;
	OutsideOfBrackets outside(name);
	while (const auto at = outside.next())
		if (name[*at] == ':' && *at >= begin && std::string_view(name).substr(*at).starts_with("::")) {
			parts.push_back(name.substr(begin, *at - begin));
			begin = *at + 2;
		}
	parts.push_back(name.substr(begin));
	return parts;
}

// "B<int>" is "B<…>".
std::string without_arguments(const std::string &part)
{
	OutsideOfBrackets outside(part);
	while (const auto at = outside.next())
		if (part[*at] == '<')
			return part.substr(0, *at) + "<…>";
	return part;
}

// Joins the parts from that number on.
std::string joined_from(const std::vector<std::string> &parts, size_t from)
{
	std::string text = from > 0 ? "…" : "";
	for (size_t i = from; i < parts.size(); ++i)
		text += (text.empty() ? "" : "::") + parts[i];
	return text;
}

} // namespace

std::string shortened_function(const std::string &name, size_t room)
{
	if (columns(name) <= room)
		return name;
	const size_t mark = name.find('!');
	const std::string library = mark == std::string::npos ? "" : name.substr(0, mark + 1);
	const bool is_inlined = name.ends_with(kInlined);
	const std::string suffix(is_inlined ? kInlined : "");
	const std::string function = name.substr(library.size(), name.size() - library.size() - suffix.size());
	std::vector<std::string> parts = parts_of(without_parameters(function));
	const size_t with_class = parts.size() - std::min<size_t>(parts.size(), 2);
	std::string shortest;
	const auto fits = [&](const std::string &shorter) {
		shortest = shorter + suffix;
		return columns(shortest) <= room;
	};
	for (const bool arguments : {true, false}) {
		if (!arguments)
			std::ranges::transform(parts, parts.begin(), without_arguments);
		for (size_t from = 0; from <= with_class; ++from)
			if (fits(library + joined_from(parts, from)))
				return shortest;
	}
	if (!fits(library + joined_from(parts, parts.size() - 1)))
		(void)fits(joined_from(parts, parts.size() - 1));
	return shortest;
}

} // namespace icepath::text
