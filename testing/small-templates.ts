/** Chat templates in the forms that matter for token-in/token-out, small enough to read. For tests. */

/** Ends every turn with a token and a newline, and reads nothing but the message itself. */
export const chatml = `{%- if tools -%}
{{- '<|im_start|>system\\n' + (tools | tojson) + '<|im_end|>\\n' -}}
{%- endif -%}
{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- if enable_thinking is defined and not enable_thinking -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}{%- endif -%}`

/** Behaves like Qwen3: drops earlier thinking, adds an empty think block to the last turn, and joins tool results in a user turn. */
export const looksBack = `{%- set ns = namespace(last=-1) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- if ns.last < 0 -%}{{- raise_exception('no user query found') -}}{%- endif -%}
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{%- set text = m.content.split('</think>')[-1] -%}
{{- '<|im_start|>assistant\\n' -}}
{%- if loop.index0 > ns.last and loop.last -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}
{{- text + '<|im_end|>\\n' -}}
{%- elif m.role == 'tool' -%}
{%- if messages[loop.index0 - 1].role != 'tool' -%}{{- '<|im_start|>user' -}}{%- endif -%}
{{- '\\n[' + m.content + ']' -}}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' -%}{{- '<|im_end|>\\n' -}}{%- endif -%}
{%- else -%}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`

/** Behaves like GLM: no token ends a turn, the header of the next turn is the stop token, and the prompt opens the think block. */
export const headersOnly = `{%- for m in messages -%}
{{- '<|' + ('observation' if m.role == 'tool' else m.role if m.role != 'system' else 'user') + '|>\\n' + m.content -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>\\n<think>' -}}{%- endif -%}`

/** Numbers its messages, so that the text of a turn depends on the number of earlier ones. */
export const counting = `{%- for m in messages -%}
{{- '<|im_start|>' ~ loop.index ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`

/** Writes a call in the format that the parser hermes reads. */
const CALL = `'<tool_call>' + ({'name': c.function.name, 'arguments': c.function.arguments} | tojson) + '</tool_call>'`

/** Behaves like gpt-oss: a call ends its turn with a token of its own, and a result without a preceding call is refused. */
export const callsEndTurns = `{%- set ns = namespace(name=none) -%}
{%- for m in messages -%}
{%- if m.role == 'tool' -%}
{%- if ns.name is none -%}{{- raise_exception('a result follows no call') -}}{%- endif -%}
{{- '<|observation|>' + ns.name + '\\n' + (m.content | tojson) + '<|im_end|>' -}}
{%- elif m.tool_calls -%}
{%- for c in m.tool_calls -%}{{- '<|assistant|>' + m.content + ${CALL} -}}{%- set ns.name = c.function.name -%}{%- endfor -%}
{%- else -%}
{{- '<|' + m.role + '|>' + m.content + ('<|endoftext|>' if loop.last and m.role == 'assistant' and not add_generation_prompt else '<|im_end|>') -}}
{%- if m.role == 'assistant' -%}{%- set ns.name = none -%}{%- endif -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}`

/** Behaves like Gemma 4: results are in the turn of the call, before its content; a result with an unknown call id is omitted. */
export const resultsInTheTurn = `{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{{- '<|assistant|>' -}}
{%- for c in m.tool_calls or [] -%}{{- ${CALL} -}}{%- endfor -%}
{%- for c in m.tool_calls or [] -%}{%- for r in messages -%}{%- if r.role == 'tool' and r.tool_call_id == c.id -%}
{{- '<|observation|>' + c.function.name + ': ' + r.content -}}
{%- endif -%}{%- endfor -%}{%- endfor -%}
{{- m.content -}}{%- if m.content -%}{{- '<|im_end|>\\n' -}}{%- endif -%}
{%- elif m.role != 'tool' -%}
{{- '<|user|>' + m.content + '<|im_end|>\\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and messages[-1].role != 'tool' -%}{{- '<|assistant|>' -}}{%- endif -%}`

/** Behaves like Kimi-K3: several tokens close a turn, and the model stops at the last one. */
export const closesTwice = `{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '<|user|>' + m.content + '<|observation|>' + m.role + '<|user|><|im_end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant<|user|>' -}}{%- endif -%}`

/** ChatML with images, as Qwen2-VL's template writes them. */
export const visionTemplate = `{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}{% for content in message.content %}{% if content.type == 'image' or 'image' in content %}<|vision_start|><|image_pad|><|vision_end|>{% elif 'text' in content %}{{ content.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`
