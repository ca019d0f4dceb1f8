/** Test data: templates with one defect each, and the stable template from which they are derived. */

/** ChatML that prints thinking, content, calls and results of every message, each only from its own content. */
export const steady = `{%- if tools -%}
{{- '<|im_start|>system\\n' + (tools | tojson) + '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.reasoning_content -%}
{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' -}}
{%- endif -%}
{{- message.content -}}
{%- for call in message.tool_calls or [] -%}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
`

const changed = (from: string, to: string): string => {
  if (!steady.includes(from)) throw new Error(`the template has no ${from}`)
  return steady.replace(from, to)
}

/** Only the last message keeps its thinking. */
export const strips = changed('if message.reasoning_content', 'if message.reasoning_content and loop.last')

/** A last reply without thinking gets an empty block. */
export const insertsThink = changed(
  'if message.reasoning_content',
  "if message.role == 'assistant' and (message.reasoning_content or loop.last)",
).replace('message.reasoning_content + ', "(message.reasoning_content or '') + ")

/** History has one newline less after the thinking than the last reply. */
export const dropsNewline = changed(
  "'\\n</think>\\n\\n' -}}",
  "'\\n</think>\\n' -}}\n{%- if loop.last -%}\n{{- '\\n' -}}\n{%- endif -%}",
)

/** Contents lose their whitespace. */
export const trims = changed('message.content', '(message.content | trim)')

/** Replies in history end with another token. */
export const alias = changed(
  "{{- '<|im_end|>\\n' -}}",
  "{%- if message.role == 'assistant' and not loop.last -%}\n{{- '<|endoftext|>\\n' -}}\n{%- else -%}\n{{- '<|im_end|>\\n' -}}\n{%- endif -%}",
)

/** Calls in history end twice. */
export const doubles = changed(
  "{{- '<|im_end|>\\n' -}}",
  "{%- if message.tool_calls and not loop.last -%}\n{{- '<|im_end|>' -}}\n{%- endif -%}\n{{- '<|im_end|>\\n' -}}",
)

/** Results are in the order of their call ids, not in that of the messages. */
export const reorders = changed(
  '{%- for message in messages -%}',
  "{%- for message in (messages | rejectattr('role', 'equalto', 'tool') | list) + (messages | selectattr('role', 'equalto', 'tool') | sort(attribute='tool_call_id') | list) -%}",
)

/** The generation prompt writes an empty block that history lacks. */
export const promptThinks = changed(
  "{{- '<|im_start|>assistant\\n' -}}",
  "{{- '<|im_start|>assistant\\n' -}}\n{%- if enable_thinking is defined and not enable_thinking -%}\n{{- '<think>\\n\\n</think>\\n\\n' -}}\n{%- endif -%}",
)

/** Calls are not printed. */
export const dropsCalls = changed('message.tool_calls or []', '[]')

/** Calls in history have no space after their colons. */
export const respells = changed(
  '(call.function.arguments | tojson)',
  "(call.function.arguments | tojson if message == messages[-1] else call.function.arguments | tojson(separators=(',', ':')))",
)

/** Content is not printed next to calls. */
export const dropsContent = changed(
  '{{- message.content -}}',
  '{%- if not message.tool_calls -%}{{- message.content -}}{%- endif -%}',
)

/** All system messages move to the start. */
export const movesSystem = changed(
  '{%- for message in messages -%}',
  "{%- for message in (messages | selectattr('role', 'equalto', 'system') | list) + (messages | rejectattr('role', 'equalto', 'system') | list) -%}",
)

/** Later system messages are not printed. */
export const dropsSystem = changed(
  '{%- for message in messages -%}',
  "{%- for message in messages if message.role != 'system' or message == messages[0] -%}",
)

/** Later results get an exclamation mark that the first ones lack. */
export const marksLate = changed(
  '{{- message.content -}}',
  "{{- message.content + ('!' if message.role == 'tool' and loop.index > 7 else '') -}}",
)

/** Replies are written in channels, as by gpt-oss: no call or answer directly follows the generation prompt. */
export const channels = `{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
{%- if message.thinking -%}
{{- '<|im_start|>assistant<|channel|>analysis<|message|>' + message.thinking + '<|end|>' -}}
{%- endif -%}
{%- if message.content -%}
{{- '<|im_start|>assistant<|channel|>final<|message|>' + message.content + ('<|end|>' if message.tool_calls else '<|im_end|>') -}}
{%- endif -%}
{%- for call in message.tool_calls or [] -%}
{{- '<|im_start|>assistant<|channel|>commentary to=functions.' + call.function.name + '<|message|>' + (call.function.arguments | tojson) + ('<|im_end|>' if loop.last else '<|end|>') -}}
{%- endfor -%}
{%- else -%}
{{- '<|im_start|>' + message.role + '<|message|>' + message.content + '<|end|>' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant' -}}
{%- endif -%}
`

/** Results are written in the turn of their call, before its content, as by Gemma 4. */
export const looksAhead = `{%- macro response(text) -%}
{{- '<tool_response>' + text + '</tool_response>' -}}
{%- endmacro -%}
{%- for message in messages -%}
{%- if message.role != 'tool' -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- for call in message.tool_calls or [] -%}
{{- '<tool_call>' + call.function.name + (call.function.arguments | tojson) + '</tool_call>' -}}
{%- endfor -%}
{%- set open = namespace(results=message.tool_calls is defined) -%}
{%- for other in messages[loop.index:] -%}
{%- if open.results and other.role == 'tool' -%}
{{- response(other.content) -}}
{%- else -%}
{%- set open.results = false -%}
{%- endif -%}
{%- endfor -%}
{{- message.content -}}
{%- if not message.tool_calls -%}
{{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and messages[-1].role != 'tool' -%}
{{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
`

/** The generation prompt closes thinking that nothing has opened, as GLM 4.7 does. */
export const closesThinking = changed(
  "{{- '<|im_start|>assistant\\n' -}}",
  "{{- '<|im_start|>assistant\\n</think>\\n' -}}",
).replace(
  '{{- message.content -}}',
  "{{- ('</think>\\n' if message.role == 'assistant' and not message.reasoning_content else '') + message.content -}}",
)

/** The last reply has another header, and earlier ones are put in brackets. */
export const brackets = changed(
  "{{- '<|im_start|>' + message.role + '\\n' -}}",
  "{{- '<|im_start|>' + ('model' if loop.last and message.role == 'assistant' else message.role) + '\\n' -}}",
).replace(
  '{{- message.content -}}',
  "{{- '[' + message.content + ']' if message.role == 'assistant' and not loop.last else message.content -}}",
)
