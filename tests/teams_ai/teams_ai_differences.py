"""Where our results deliberately differ from Teams AI's, why, and what they are instead.

`DIFFERENCES` is the only such list: a case that is not in it must give what Teams AI gives. The
page "Coming from Teams AI" has each code, and a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from teams_ai_checks import (
    Check,
    a_missing_value_is_an_error,
    an_image_costs_what_the_model_says,
    an_old_call_is_read,
    begins_with_the_user,
    does_not_decode,
    gets_its_fraction,
    has_attributes_but,
    has_length,
    has_other_names,
    is_a_syntax_error,
    is_a_tool_call,
    is_a_tool_result,
    is_cut_to,
    is_not_quoted,
    is_not_shipped,
    is_one_message_with_a_role,
    is_refused,
    is_undefined,
    is_undefined_or_empty,
    is_whole_or_left_out,
    is_whole_or_refused,
    keeps_no_half_exchange,
    minus_two_is_refused,
    outputs_stand_behind_their_calls,
    renders_as,
    returned_messages_are_cut_to,
    stands_oldest_first,
    stays_a_field,
    the_section_cuts_chunks,
)
from teams_ai_folders import lists_the_actions_once, results_stand_before_the_input
from teams_ai_memory_checks import (
    functions_are_a_mapping,
    paths_are_of_any_depth,
    reads_a_chain_of_mappings,
    wraps_a_state_object,
)


@frozen
class Difference:
    """One deliberate difference and the cases that show it."""

    code: str
    reason: str
    cases: Mapping[str, Check | None]
    """Number of a case → what holds instead; `None` where there is nothing of ours to call."""


def each(check: Check | None, numbers: str) -> dict[str, Check | None]:
    return dict.fromkeys(numbers.split(), check)


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "never-over",
        "Nothing over the budget is sent. Where what is required does not fit, the render is "
        "refused with BudgetExceededError; Teams AI returns the long prompt with a flag.",
        each(
            is_refused,
            "K004 K008 K016 K017 K018 K022 K026 K052 K054 K069 K070 K072 K073 K086 K090 K098 K099 "
            "K100 K104 K108 K133 K135 K148 K149 K151 K152 K265 K267 K276 K292 K316 K318 K398 K434 "
            "K436 K034 K040 K116 K121 K280 K286 K048 K129 K430",
        ),
    ),
    Difference(
        "cut-to-fit",
        "A section with a number or a fraction is cut to what it is given, and both of two shares "
        "shrink before one is dropped. Teams AI cuts only sections with a number, to that number.",
        {
            **each(is_cut_to(["Hello"], 1), "K044 K125 K426"),
            "K268": is_cut_to("Hello World Teams-AI", 5),
            "K269": is_cut_to("Hello World Teams-AI", 5),
            "K270": is_cut_to("Hello", 1),
            "K297": returned_messages_are_cut_to(["Hello World!"], 3),
            "K298": returned_messages_are_cut_to(["Hello World"], 2),
            "K329": is_cut_to(["test"], 1),
        },
    ),
    Difference(
        "whole-words",
        "Text is cut between words, so that no half name is sent. Teams AI cuts between tokens.",
        each(is_cut_to("Hello World!", 3), "K293"),
    ),
    Difference(
        "fractions",
        "0.5 is a half of what the sections of a fixed size leave. Teams AI offers all of it to "
        "every section with a fraction.",
        each(gets_its_fraction, "K295"),
    ),
    Difference(
        "whole-exchanges",
        "A history sends whole exchanges and begins with a user turn: no answer without its "
        "question, no result without its call. Teams AI cuts between any two messages.",
        {
            **each(keeps_no_half_exchange, "K031 K037 K113 K118 K281 K287"),
            **each(begins_with_the_user, "K035 K285"),
        },
    ),
    Difference(
        "history-order",
        "The text of a history is oldest first with a label on every line, and reading it changes "
        "nothing. C# renders the newest first and reverses the stored list.",
        each(stands_oldest_first, "K399"),
    ),
    Difference(
        "groups-keep-messages",
        'GroupSection has no role by default and keeps the messages apart; with role="system" it '
        "is one message, as in Teams AI.",
        {
            **each(is_one_message_with_a_role, "K021 K023 K024 K103 K105 K106 K275"),
            **each(has_attributes_but(role=None), "K273"),
        },
    ),
    Difference(
        "auto-is-whole",
        "A section of its content's size (-1) is sent whole, or left out if it is optional, or "
        "refused. To have it cut, give it a number, a fraction or when_over=Truncate().",
        {
            **each(is_whole_or_refused, "K350"),
            **each(is_whole_or_left_out, "K393 K412"),
        },
    ),
    Difference(
        "counted-whole",
        "The finished text is counted. Teams AI adds up prefix, parts and separators, which may "
        "be more or less than the text has.",
        {**each(has_length(4), "K076 K082"), "K279": has_length(35), "K291": has_length(6)},
    ),
    Difference(
        "no-gpt3-vocabulary",
        "The vocabularies of today's models are shipped, not GPT-3's: another one is passed as a "
        "tiktoken.Encoding. Promptrix counts with GPT-3's.",
        {
            **each(has_length(3), "K091 K092 K096 K109 K110"),
            **each(has_length(6), "K094"),
            **each(has_length(7), "K117"),
            **each(has_length(4), "K155 K161"),
            **each(is_not_shipped, "K205 K206 K261 K262"),
        },
    ),
    Difference(
        "no-decode",
        "A tokenizer counts; nothing here turns ids into text, since cutting by ids breaks "
        "characters.",
        each(does_not_decode, "K204 K375"),
    ),
    Difference(
        "image-costs",
        "An image costs what the model's rule says. Teams AI counts 85 tokens for each.",
        each(an_image_costs_what_the_model_says, "K174 K351 K352 K353 K354 K415"),
    ),
    Difference(
        "empty-placeholder",
        "An empty placeholder is a syntax error with its position, when the section is written.",
        each(is_a_syntax_error, "K063 K142 K326 K443"),
    ),
    Difference(
        "missing-is-an-error",
        "A variable that memory does not hold is an error that suggests what was meant; "
        'Renderer(undefined="empty") renders nothing and notes it.',
        {
            **each(is_undefined_or_empty, "K321"),
            **each(is_undefined, "K348"),
            **each(a_missing_value_is_an_error, "K213 K221"),
        },
    ),
    Difference(
        "plain-strings",
        "A string comes out as it is. C# puts variables that are strings into quotes.",
        each(is_not_quoted, "K405 K406"),
    ),
    Difference(
        "always-json",
        "Mappings and lists are compact JSON, whatever they hold. Teams AI takes YAML where that "
        "has fewer tokens.",
        {
            **each(renders_as('{"a":1}'), "K210 K218"),
            **each(renders_as('{"key":"value","key2":[1,2,3]}'), "K380 K381"),
        },
    ),
    Difference(
        "dates",
        "A date is a date, 2021-01-01; only a datetime has a time.",
        each(renders_as("2021-01-01"), "K212 K220"),
    ),
    Difference(
        "tool-calls",
        "A call is a ToolCall with an id, sent as tool_calls and counted. Teams AI sends the old "
        "function_call, which we read.",
        {
            **each(is_a_tool_call, "K162 K163 K340 K341 K342 K413"),
            **each(an_old_call_is_read, "K302"),
        },
    ),
    Difference(
        "tool-results",
        "A result has the role tool and its call's id, is counted, and stands right behind its "
        "call or is not sent: a history keeps the two together. There is no section that joins "
        "calls and outputs from two places in memory; the history of a prompt folder does.",
        {
            **each(is_a_tool_result, "K164 K165 K343 K344 K345 K414"),
            **each(outputs_stand_behind_their_calls, "K356 K357 K407 K408 K409 K410"),
            **each(results_stand_before_the_input, "K373"),
            **each(None, "K355"),
        },
    ),
    Difference(
        "message-fields",
        "A name is a field and parts stay parts; neither is written into the text.",
        each(stays_a_field, "K300 K301 K396"),
    ),
    Difference(
        "negative-tokens",
        "-1 is the only negative number with a meaning; others are InvalidBudgetError.",
        each(minus_two_is_refused, "K166 K167"),
    ),
    Difference(
        "sources-return-chunks",
        "A data source returns ranked chunks and is not told how to cut them: the section keeps as "
        "many as fit.",
        each(the_section_cuts_chunks, "K169 K170 K338 K339"),
    ),
    Difference(
        "sources-are-optional",
        "A data source may be left out by default, with a share of 0.3; Teams AI requires it.",
        each(has_attributes_but(required=False), "K336"),
    ),
    Difference(
        "other-names",
        "UserInput(variable, files) is Teams AI's UserInputMessage(input_variable, "
        "files_variable); files are read only where they are named. Prefixes of a history keep "
        "their colon, which the Python port of Promptrix lost.",
        {
            **each(has_other_names, "K346 K347"),
            **each(
                has_attributes_but(user_prefix="user: ", assistant_prefix="assistant: "), "K421"
            ),
        },
    ),
    Difference(
        "no-registry",
        "Functions are a mapping that is passed to Renderer; there is nothing to register in.",
        each(
            functions_are_a_mapping, "K240 K241 K242 K243 K244 K245 K246 K247 K446 K447 K448 K449"
        ),
    ),
    Difference(
        "memory-is-read",
        "Memory is any mapping, or anything with get(path, default), read by paths of any depth "
        "and never changed. A ChainMap is a fork; state and its storage belong to the bot.",
        {
            **each(
                reads_a_chain_of_mappings,
                "K224 K225 K226 K227 K228 K229 K230 K231 K232 K233 K234 K235 K236 K237 K238 K239",
            ),
            **each(paths_are_of_any_depth, "K223"),
            **each(wraps_a_state_object, "K387 K388"),
            **each(
                None,
                "K250 K251 K252 K253 K254 K255 K256 K257 K258 K259 K260 K383 K384 K385 K386 K389 "
                "K390 K391 K451 K452 K453 K454 K455 K456 K457 K458 K459 K460 K461",
            ),
        },
    ),
    Difference(
        "no-prompt-manager",
        "A prompt is a value that is written in code or read from a folder, and passed around: "
        "there is no manager, and nothing to add to it.",
        each(
            None,
            "K176 K177 K178 K179 K180 K181 K182 K183 K185 K186 K187 K188 K189 K190 K191 K192 "
            "K358 K359 K360 K361 K362 K363 K364 K365 K416 K417",
        ),
    ),
    Difference(
        "actions-of-one-prompt",
        "The actions of a prompt are those of its folder, and SAY where the model talks to itself.",
        each(lists_the_actions_once, "K370"),
    ),
)
