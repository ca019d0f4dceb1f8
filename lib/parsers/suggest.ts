/** Which parser a run should have where nobody names one: by the server's own setting, else by the chat template. */
import { foreignFormIn } from './foreign-forms.ts'
import { DEFAULT_PARSER, parserOfServer } from './registry.ts'

export interface Known {
  /** The text of the template, Jinja. Undefined or empty: it is not known. */
  readonly chatTemplate?: string | undefined
  /** SGLang's name of the parser that the server runs with. */
  readonly serverParser?: string | undefined
  /** Texts of the tokenizer's added tokens. */
  readonly addedTokens?: readonly string[] | undefined
}

export interface Suggestion {
  readonly parser: string
  /** A clause, to be read behind "because". */
  readonly because: string
  /** What tells it; default: nothing does. */
  readonly by: 'server' | 'template' | 'tokens' | 'default'
}

export function suggestParser({ chatTemplate = '', serverParser, addedTokens = [] }: Known): Suggestion {
  const own = parserOfServer(serverParser)
  const foreign = foreignFormIn(chatTemplate)
  const written = foreign ? undefined : formIn((mark) => chatTemplate.includes(mark))
  if (own !== undefined) {
    const isOther = written !== undefined && written.parser !== own
    const caveat = isOther ? `, though the chat template has ${written.marks[0]}, as ${written.parser} reads it` : ''
    return { parser: own, because: `the server runs with ${serverParser}${caveat}`, by: 'server' }
  }
  const unknown = serverParser === undefined ? '' : `the server’s ${serverParser} is not known here, and `
  if (written)
    return { parser: written.parser, because: `${unknown}the chat template has ${written.marks[0]}`, by: 'template' }
  if (foreign) {
    const because = `${unknown}no parser here reads ${foreign.mark}, which the chat template has: the form of SGLang’s ${foreign.sglangParser}`
    return { parser: DEFAULT_PARSER, because, by: 'default' }
  }
  const tokens = new Set(addedTokens)
  const told = formIn((mark) => tokens.has(mark))
  if (told)
    return { parser: told.parser, because: `${unknown}the tokenizer has ${told.marks[0]} as a token`, by: 'tokens' }
  const because =
    unknown === '' ? 'neither the server nor the chat template tells one' : `${unknown}the chat template tells none`
  return { parser: DEFAULT_PARSER, because, by: 'default' }
}

interface Form {
  readonly parser: string
  /** All of them are there; the first is what is told. */
  readonly marks: readonly [string, ...string[]]
}

/** The first that is found counts: what is more particular stands before what others share with it. */
const FORMS: readonly Form[] = [
  // Some templates have the mark of both in a variable. The section tells them apart.
  { parser: 'deepseek_v4', marks: ['｜DSML｜', 'tool_calls>'] },
  { parser: 'deepseek_v32', marks: ['｜DSML｜', 'function_calls>'] },
  { parser: 'deepseek_v3', marks: ['<｜tool▁sep｜>', '```json'] },
  { parser: 'deepseek_v31', marks: ['<｜tool▁sep｜>'] },
  { parser: 'minimax-m2', marks: ['<minimax:tool_call>'] },
  { parser: 'minimax-m3', marks: [']<]minimax[>['] },
  { parser: 'minicpm5', marks: ['<param name='] },
  { parser: 'lfm2', marks: ['<|tool_call_start|>'] },
  { parser: 'cohere_command4', marks: ['<|START_ACTION|>'] },
  { parser: 'apertus2509', marks: ['<|tools_prefix|>'] },
  { parser: 'muse', marks: ['<atem:function_calls>'] },
  { parser: 'gigachat3', marks: ['<|function_call|>'] },
  { parser: 'gigachat3', marks: ['<|role_sep|>'] },
  { parser: 'hunyuan', marks: ['<tool_sep:opensource>'] },
  { parser: 'hunyuan', marks: ['<tool_sep>'] },
  // The template joins names and suffix.
  { parser: 'hunyuan', marks: ['<tool_sep', ':opensource'] },
  { parser: 'gemma4', marks: ['<|tool_call>'] },
  { parser: 'kimi_k2', marks: ['<|tool_call_begin|>'] },
  { parser: 'kimi_k3', marks: ['<|open|>', '<|sep|>'] },
  { parser: 'gpt-oss', marks: ['<|channel|>', '<|message|>'] },
  { parser: 'mistral', marks: ['[TOOL_CALLS]'] },
  { parser: 'seed_oss', marks: ['<seed:tool_call>'] },
  { parser: 'nemotron', marks: ['<TOOLCALL>'] },
  { parser: 'solar_open', marks: ['<|tool_call:begin|>'] },
  // The template asks for it, and joins the tag of its parts.
  { parser: 'functionary_v31', marks: ['<{start_tag}='] },
  { parser: 'functionary_v32', marks: ['>>>all'] },
  { parser: 'command_r', marks: ['Action:', '```json', '<|CHATBOT_TOKEN|>'] },
  { parser: 'tool_calls', marks: ['<tool_calls>'] },
  { parser: 'glm', marks: ['<arg_key>'] },
  { parser: 'qwen_xml', marks: ['<function='] },
  { parser: 'hermes', marks: ['<tool_call>'] },
  { parser: 'llama3', marks: ['<|python_tag|>'] },
  { parser: 'llama3', marks: ['"parameters": ', '<|start_header_id|>'] },
  { parser: 'pythonic', marks: ['<|python_start|>'] },
  { parser: 'pythonic', marks: ['[func_name1('] },
]

const formIn = (has: (mark: string) => boolean): Form | undefined => FORMS.find(({ marks }) => marks.every(has))
