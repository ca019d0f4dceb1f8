/** Test data: chat templates that write tool calls in each format, like the models that have it. */

/** Like Qwen3-Coder: values that are texts are written unchanged, others as JSON. */
export const xmlTemplate = `{%- if tools %}
{{- '<|im_start|>system\\nYou may call functions:\\n<tools>' }}
{%- for tool in tools %}
{{- '\\n' ~ tool.function | tojson }}
{%- endfor %}
{{- '\\n</tools>\\nReply in this format:\\n<tool_call>\\n<function=example_function>\\n<parameter=example_parameter>\\nvalue\\n</parameter>\\n</function>\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n<function=' + call.function.name + '>\\n' }}
{%- for name, value in call.function.arguments.items() %}
{{- '<parameter=' + name + '>\\n' }}
{{- value if value is string else value | tojson }}
{{- '\\n</parameter>\\n' }}
{%- endfor %}
{{- '</function>\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}`

/** Like GLM-4.5. */
export const glmTemplate = `[gMASK]<sop>
{%- if tools %}
{{- '<|system|>\\n# Tools\\n' }}
{%- for tool in tools %}
{{- tool.function | tojson ~ '\\n' }}
{%- endfor %}
{{- 'For each function call, output:\\n<tool_call>{function-name}\\n<arg_key>{arg-key-1}</arg_key>\\n<arg_value>{arg-value-1}</arg_value>\\n</tool_call>' }}
{%- endif %}
{%- for message in messages %}
{{- '<|' + message.role + '|>\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>' + call.function.name + '\\n' }}
{%- for name, value in call.function.arguments.items() %}
{{- '<arg_key>' + name + '</arg_key>\\n<arg_value>' + (value if value is string else value | tojson) + '</arg_value>\\n' }}
{%- endfor %}
{{- '</tool_call>' }}
{%- endfor %}
{%- endfor %}`

/** Like Kimi K2: ids of its own, arguments as JSON text. */
export const kimiTemplate = `{%- if tools %}
{{- '<|im_system|>tool_declare<|im_middle|>' + (tools | tojson) + '<|im_end|>' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_' + message.role + '|>' + message.role + '<|im_middle|>' + (message.content or '') }}
{%- if message.tool_calls %}
{{- '<|tool_calls_section_begin|>' }}
{%- for call in message.tool_calls %}
{{- '<|tool_call_begin|>' + call.id + '<|tool_call_argument_begin|>' + (call.function.arguments if call.function.arguments is string else call.function.arguments | tojson) + '<|tool_call_end|>' }}
{%- endfor %}
{{- '<|tool_calls_section_end|>' }}
{%- endif %}
{{- '<|im_end|>' }}
{%- endfor %}`

/** Like Gemma 4. */
export const gemmaTemplate = `{%- macro written(value) -%}
{%- if value is string -%}<|"|>{{ value }}<|"|>
{%- elif value is none -%}null
{%- elif value is boolean -%}{{ 'true' if value else 'false' }}
{%- elif value is mapping -%}{{ '{' }}{% for key, item in value | dictsort %}{{ key }}:{{ written(item) }}{{ ',' if not loop.last }}{% endfor %}{{ '}' }}
{%- elif value is sequence -%}[{% for item in value %}{{ written(item) }}{{ ',' if not loop.last }}{% endfor %}]
{%- else -%}{{ value }}
{%- endif -%}
{%- endmacro -%}
{%- for message in messages %}
{{- '<|turn>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<|tool_call>call:' + call.function.name + written(call.function.arguments) + '<tool_call|>' }}
{%- endfor %}
{{- '<turn|>\\n' }}
{%- endfor %}`

/** A form that no parser here reads, like that of Beam. */
export const foreignTemplate = `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<rfl:call name="' + call.function.name + '"><rfl:parameter name="a">' + (call.function.arguments | tojson) + '</rfl:parameter></rfl:call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}`

/** Like Llama 3.1. */
export const llamaTemplate = `{%- for message in messages %}
{{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '<|python_tag|>{"name": "' + call.function.name + '", "parameters": ' + (call.function.arguments | tojson) + '}' }}
{%- endfor %}
{{- '<|eot_id|>' }}
{%- endfor %}`

/** Writes only contents. */
export const plainTemplate = `{%- for message in messages %}{{- message.role + ': ' + (message.content or '') + '\\n' }}{%- endfor %}`

/** Returns whether a parser reads other calls than qwen_xml. mimo reads the same ones, and keeps the line breaks around their values. */
export const isUnrelated = ({ parser }: { readonly parser: string }): boolean => parser !== 'mimo'
