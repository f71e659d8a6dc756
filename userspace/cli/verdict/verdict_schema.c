/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_report.h"

#define STRING "{ \"type\": \"string\" }"
#define NUMBER "{ \"type\": \"number\" }"
#define COUNT "{ \"type\": \"integer\", \"minimum\": 0 }"
#define MAYBE_STRING "{ \"type\": [\"string\", \"null\"] }"
#define MAYBE_NUMBER "{ \"type\": [\"number\", \"null\"] }"
#define VERDICT "{ \"enum\": [\"same\", \"better\", \"worse\", \"can't tell\"] }"
#define RESULT "{ \"enum\": [\"holds\", \"regressed\", \"can't tell\", \"error\"] }"
#define INTERVAL "{ \"$ref\": \"#/$defs/interval\" }"
#define EFFECT_MEMBERS \
	"        \"base\": " MAYBE_NUMBER ",\n" \
	"        \"new\": " MAYBE_NUMBER ",\n" \
	"        \"difference\": " MAYBE_NUMBER ",\n" \
	"        \"difference_interval\": " INTERVAL ",\n" \
	"        \"relative\": " MAYBE_NUMBER ",\n" \
	"        \"relative_interval\": " INTERVAL ",\n" \
	"        \"units\": { \"type\": \"array\", \"items\": " COUNT ", \"minItems\": 2, " \
	"\"maxItems\": 2 },\n" \
	"        \"p\": " MAYBE_NUMBER

const char verdict_schema[] =
	"{\n"
	"  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	"  \"title\": \"txtrace diff and check\",\n"
	"  \"description\": \"Times are in ns; relative figures are shares of the base (0.05: 5 %).\",\n"
	"  \"type\": \"object\",\n"
	"  \"required\": [\"type\", \"version\", \"status\", \"summary\", \"runs\", \"rules\", "
	"\"comparison\"],\n"
	"  \"additionalProperties\": false,\n"
	"  \"properties\": {\n"
	"    \"type\": { \"enum\": [\"diff\", \"check\"] },\n"
	"    \"version\": " STRING ",\n"
	"    \"status\": { \"description\": \"the exit status\", \"enum\": [0, 1, 2, 3] },\n"
	"    \"summary\": " STRING ",\n"
	"    \"runs\": { \"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/run\" } },\n"
	"    \"rules\": { \"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/rule\" } },\n"
	"    \"comparison\": { \"oneOf\": [{ \"type\": \"null\" }, { \"$ref\": \"#/$defs/comparison\" }] }\n"
	"  },\n"
	"  \"$defs\": {\n"
	"    \"interval\": { \"oneOf\": [{ \"type\": \"null\" }, { \"type\": \"array\", \"items\": " NUMBER
	", \"minItems\": 2, \"maxItems\": 2 }] },\n"
	"    \"run\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"side\", \"path\", \"spans\", \"lower_bounds\", \"lost\", \"complete\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n"
	"        \"side\": { \"enum\": [\"base\", \"new\"] },\n        \"path\": " STRING
	",\n        \"spans\": " COUNT ",\n"
	"        \"lower_bounds\": " COUNT ",\n        \"lost\": " COUNT
	",\n        \"complete\": { \"type\": \"boolean\" }\n"
	"      }\n"
	"    },\n"
	"    \"rule\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"rule\", \"result\", \"complaint\", \"cases\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n"
	"        \"rule\": " STRING ",\n        \"result\": " RESULT ",\n        \"complaint\": " MAYBE_STRING
	",\n"
	"        \"cases\": { \"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/case\" } }\n"
	"      }\n"
	"    },\n"
	"    \"case\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"label\", \"result\", \"figure\", \"interval\", \"words\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n"
	"        \"label\": { \"description\": \"null: the whole log, or spans without label\", \"type\": "
	"[\"string\", \"null\"] },\n"
	"        \"result\": " RESULT ",\n        \"figure\": " MAYBE_NUMBER
	",\n        \"interval\": " INTERVAL ",\n        \"words\": " STRING ",\n"
	"        \"effect\": { \"$ref\": \"#/$defs/effect\" }\n"
	"      }\n"
	"    },\n"
	"    \"effect\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"base\", \"new\", \"difference\", \"difference_interval\", \"relative\", "
	"\"relative_interval\", \"units\", \"p\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n" EFFECT_MEMBERS "\n      }\n"
	"    },\n"
	"    \"comparison\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"code\", \"machine\", \"units\", \"false_alarms\", \"confidence\", "
	"\"min_effect\",\n"
	"                   \"seed\", \"tested\", \"figures\", \"labels\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n"
	"        \"code\": " VERDICT ",\n        \"machine\": " VERDICT
	",\n        \"units\": { \"enum\": [\"runs\", \"pairs\", \"windows\"] },\n"
	"        \"false_alarms\": " NUMBER ",\n        \"confidence\": " NUMBER
	",\n        \"min_effect\": " NUMBER ",\n        \"seed\": " COUNT ",\n"
	"        \"tested\": " COUNT
	",\n        \"figures\": { \"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/figure\" } },\n"
	"        \"labels\": { \"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/label\" } }\n"
	"      }\n"
	"    },\n"
	"    \"figure\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"label\", \"kind\", \"figure\", \"percentile\", \"owner\", \"verdict\", "
	"\"base\", \"new\",\n"
	"                   \"difference\", \"difference_interval\", \"relative\", \"relative_interval\", "
	"\"units\", \"matters\", \"p\",\n"
	"                   \"units_needed\", \"explanation\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n"
	"        \"label\": " MAYBE_STRING ",\n"
	"        \"kind\": { \"enum\": [\"time\", \"calls\", \"blocks\", \"waits_on\", \"held_by\", "
	"\"count\", \"lower_bounds\"] },\n"
	"        \"figure\": " STRING ",\n        \"of\": " STRING ",\n        \"reason\": " STRING ",\n"
	"        \"waker\": { \"type\": \"object\", \"required\": [\"kind\", \"name\"],\n"
	"                     \"properties\": { \"kind\": " STRING ", \"name\": " MAYBE_STRING " } },\n"
	"        \"percentile\": { \"description\": \"null: the mean\", \"type\": [\"number\", \"null\"] },\n"
	"        \"owner\": { \"enum\": [\"code\", \"machine\", \"both\"] },\n        \"verdict\": " VERDICT
	",\n" EFFECT_MEMBERS ",\n"
	"        \"matters\": " NUMBER ",\n        \"units_needed\": { \"type\": [\"integer\", \"null\"] "
				       "},\n        \"explanation\": " MAYBE_STRING "\n"
	"      }\n"
	"    },\n"
	"    \"label\": {\n"
	"      \"type\": \"object\",\n"
	"      \"required\": [\"change\", \"label\", \"spans\"],\n"
	"      \"additionalProperties\": false,\n"
	"      \"properties\": {\n"
	"        \"change\": { \"enum\": [\"new\", \"vanished\"] },\n        \"label\": " MAYBE_STRING
	",\n        \"spans\": " COUNT ",\n"
	"        \"perhaps_renamed_to\": " MAYBE_STRING ",\n        \"perhaps_renamed_from\": " MAYBE_STRING
	"\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n";
