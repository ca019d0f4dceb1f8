/** Chat templates in the shapes that matter to token-in/token-out, small enough to be read. For tests. */

/** Ends every turn with a token and a newline, looks at nothing but the message itself. */
export const chatml = `{%- if tools -%}
{{- '<|im_start|>system\\n' + (tools | tojson) + '<|im_end|>\\n' -}}
{%- endif -%}
{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- if enable_thinking is defined and not enable_thinking -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}{%- endif -%}`

/** As Qwen3: drops the thinking of earlier turns, puts an empty think block into the last one, joins tool results in a user turn. */
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

/** As GLM: nothing ends a turn, the header of the next one is the stop token; the prompt opens the think block. */
export const headersOnly = `{%- for m in messages -%}
{{- '<|' + ('observation' if m.role == 'tool' else m.role if m.role != 'system' else 'user') + '|>\\n' + m.content -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>\\n<think>' -}}{%- endif -%}`

/** Numbers its messages: what it writes for a new turn depends on how many came before. */
export const counting = `{%- for m in messages -%}
{{- '<|im_start|>' ~ loop.index ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`

/** How these templates write a call: as the parser hermes reads it. */
const CALL = `'<tool_call>' + ({'name': c.function.name, 'arguments': c.function.arguments} | tojson) + '</tool_call>'`

/** As gpt-oss: a call ends its turn with a token of its own, and a result is refused where no call stands before it. */
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

/** As Gemma 4: results stand in the turn of the call, before its content; one whose id names no call is left out. */
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

/** As Kimi-K3: several tokens close a turn, of which the model stops at the last. */
export const closesTwice = `{%- for m in messages -%}
{{- '<|im_start|>' + m.role + '<|user|>' + m.content + '<|observation|>' + m.role + '<|user|><|im_end|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant<|user|>' -}}{%- endif -%}`
