// The documenting side of a key description.
#include <cmath>

#include "host/files/json_text.hpp"
#include "host/files/keys.hpp"

namespace isocloth {
namespace {

Json number_schema(const Range& range) {
  Json schema{{"type", range.whole ? "integer" : "number"}};
  const auto bound = [&range](double value) { return range.whole ? Json(std::llround(value)) : Json(value); };
  if (std::isfinite(range.least)) schema[range.above ? "exclusiveMinimum" : "minimum"] = bound(range.least);
  if (std::isfinite(range.most)) schema["maximum"] = bound(range.most);
  return schema;
}

Json list_schema(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Json tuple_schema(Json items, std::size_t size) {
  Json schema = list_schema(std::move(items));
  schema["minItems"] = schema["maxItems"] = size;
  return schema;
}

class KeySchema : public Keys {
 public:
  void number(Text name, double& value, const Range& range, Text doc, Need need) override {
    add_with_default(name, number_schema(range), range.whole ? Json(std::llround(value)) : Json(value), doc,
                     need);
  }

  void number(Text name, std::optional<double>&, const Range& range, Text doc) override {
    add(name, number_schema(range), doc, Need::optional);
  }

  void tuple(Text name, std::span<double> values, const Range& range, Text doc, Need need) override {
    add_with_default(name, tuple_schema(number_schema(range), values.size()),
                     std::vector<double>(values.begin(), values.end()), doc, need);
  }

  void list(Text name, std::vector<double>&, const Range& range, Text doc, Need need) override {
    add(name, list_schema(number_schema(range)), doc, need);
  }

  void vectors(Text name, std::vector<Vec3d>&, Text doc, Need need) override {
    add(name, list_schema(tuple_schema(number_schema(any_number), 3)), doc, need);
  }

  void points(Text name, std::vector<Vec2d>&, Text doc, Need need) override {
    add(name, list_schema(tuple_schema(number_schema(any_number), 2)), doc, need);
  }

  void string(Text name, std::string& value, Text doc, Need need) override {
    add_with_default(name, {{"type", "string"}}, value, doc, need);
  }

  void string_index(Text name, std::size_t& index, const std::vector<std::string>& words, Text doc) override {
    add_with_default(name, {{"enum", words}}, words[index], doc, Need::optional);
  }

  void flag(Text name, bool& value, Text doc, Need need) override {
    add_with_default(name, {{"type", "boolean"}}, value, doc, need);
  }

  void object(Text name, Text doc, Need need, const Describe& describe) override {
    add(name, object_schema(describe), doc, need);
  }

  void objects(Text name, Text doc, std::size_t least_count,
               const std::function<void(Keys&, std::size_t)>& describe) override {
    Json schema = list_schema(object_schema([&](Keys& keys) { describe(keys, 0); }));
    schema["minItems"] = least_count;
    add(name, std::move(schema), doc, least_count > 0 ? Need::required : Need::optional);
  }

  void one_of(Text name, Text doc, Need need, const std::vector<Alternative>& alternatives) override {
    Json forms = Json::array();
    for (const Alternative& alternative : alternatives) {
      KeySchema keys;
      if (!alternative.value.empty())
        keys.add(alternative.key, {{"const", alternative.value}}, "", Need::required);
      alternative.describe(keys);
      Json form = keys.finish();
      form["description"] = alternative.doc;
      forms.push_back(std::move(form));
    }
    add(name, {{"oneOf", std::move(forms)}}, doc, need);
  }

  void members(Text name, Text doc, const std::function<void(Keys&, Text)>& describe) override {
    KeySchema keys;
    const std::string any = "any";
    describe(keys, any);
    add(name, {{"type", "object"}, {"additionalProperties", keys.properties_[any]}}, doc, Need::optional);
  }

  static Json object_schema(const Describe& describe) {
    KeySchema keys;
    describe(keys);
    return keys.finish();
  }

 private:
  void add(Text name, Json schema, Text doc, Need need) {
    if (!doc.empty()) schema["description"] = doc;
    properties_[name] = std::move(schema);
    if (need == Need::required) required_.push_back(name);
  }

  void add_with_default(Text name, Json schema, Json value, Text doc, Need need) {
    if (need == Need::optional) schema["default"] = std::move(value);
    add(name, std::move(schema), doc, need);
  }

  Json finish() {
    Json schema{{"type", "object"}, {"properties", std::move(properties_)}, {"additionalProperties", false}};
    if (!required_.empty()) schema["required"] = required_;
    return schema;
  }

  Json properties_ = Json::object();
  std::vector<std::string> required_;
};

}  // namespace

std::string schema_of(const std::string& title, const Keys::Describe& describe) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
  schema.update(KeySchema::object_schema(describe));
  return schema.dump(2) + "\n";
}

}  // namespace isocloth
