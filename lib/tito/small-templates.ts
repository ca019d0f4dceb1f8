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
