/** Runs JavaScript clients and, through clients.py, Python ones against a server: each asks, runs the tool and sends its result. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'

/** What a client got from a server. */
interface ClientResult {
  /** The last text, or how the agent ended. */
  readonly text: string | null
  /** The results of the tool. */
  readonly results: readonly string[]
  /** Prompt and completion tokens of the last call. null: the client does not say. */
  readonly tokens: number | null
}

/** What a client asks. */
export interface ClientTask {
  readonly question: string
  readonly tool: keyof typeof TOOLS
  /** Largest number of tokens of a reply. */
  readonly maxTokens: number
  /** Omitted: that of the server. */
  readonly temperature?: number
  /** How often the SDKs of OpenAI and Anthropic repeat a call that fails. Omitted: never. */
  readonly retries?: number
}

/** How a client connects, whether it streams, and what it asks. */
interface Connection {
  readonly origin: string
  readonly key: string
  readonly stream: boolean
  readonly task: ClientTask
}

/** A client by its name. */
export interface SessionClient {
  readonly name: string
  /** Whether it is run with and without streams, or in its only way. */
  readonly streams: readonly boolean[]
  run(connection: Connection): Promise<ClientResult>
}

/** Returns the sampling parameters of a task, as all three protocols name them. */
const samplingOf = ({ temperature }: ClientTask) => (temperature === undefined ? {} : { temperature })

/** The task of scripted models. */
export const SCRIPTED_TASK: ClientTask = { question: 'What is 17 + 25? Use the tool.', tool: 'add', maxTokens: 64 }

const SYSTEM = 'You are a calculator.'

/** The tools, with the same names, descriptions and schemas as in clients.py. */
const TOOLS = {
  add: {
    description: 'Adds two integers.',
    schema: schemaOf({ a: { type: 'integer' }, b: { type: 'integer' } }),
    run: ({ a, b }: ToolInput) => String(Number(a) + Number(b)),
  },
  calculator: {
    description: 'Calculates an expression.',
    schema: schemaOf({ expression: { type: 'string' } }),
    run: ({ expression }: ToolInput) =>
      String(
        String(expression)
          .split('+')
          .reduce((sum, operand) => sum + Number(operand), 0),
      ),
  },
}
type ToolInput = Readonly<Record<string, unknown>>

function schemaOf(properties: Readonly<Record<string, { readonly type: 'integer' | 'string' }>>) {
  return { type: 'object' as const, properties, required: Object.keys(properties), additionalProperties: false }
}

/** Returns all clients. `python` is the interpreter that has the Python ones. */
export const sessionClients = (python: string): readonly SessionClient[] => [
  ...['openai chat', 'openai responses', 'anthropic', 'openai-agents chat', 'openai-agents responses'].map((name) =>
    pythonClient(python, name, [false, true]),
  ),
  pythonClient(python, 'strands', [true]),
  pythonClient(python, 'mini-swe-agent', [false]),
  { name: 'openai (JavaScript)', streams: [false, true], run: openAiChat },
  { name: 'anthropic (JavaScript)', streams: [false, true], run: anthropicMessages },
  { name: 'Vercel AI SDK', streams: [false, true], run: vercel },
]

const run = promisify(execFile)

/**
 * Returns the environment variables with which an interpreter keeps the compiled files of its packages, in a folder of their own. The clients
 * start several times as fast with them.
 */
export const compiledPython = (python: string): Readonly<Record<string, string>> => ({
  PYTHONDONTWRITEBYTECODE: '',
  PYTHONPYCACHEPREFIX: path.resolve(python, '..', '..', 'bytecode'),
})

const pythonClient = (python: string, name: string, streams: readonly boolean[]): SessionClient => ({
  name: `${name} (Python)`,
  streams,
  async run({ origin, key, stream, task }) {
    const script = path.join(import.meta.dirname, 'clients.py')
    const mode = stream ? 'stream' : 'whole'
    const { stdout } = await run(python, [script, name, origin, key, mode, JSON.stringify(task)], {
      env: { ...process.env, ...compiledPython(python), OPENAI_AGENTS_DISABLE_TRACING: '1' },
    })
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ClientResult
  },
})

async function openAiChat({ origin, key, stream, task }: Connection): Promise<ClientResult> {
  const { description, schema, run: runTool } = TOOLS[task.tool]
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: key, maxRetries: task.retries ?? 0 })
  const results: string[] = []
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'developer', content: SYSTEM },
    { role: 'user', content: task.question },
  ]
  for (;;) {
    const request = {
      model: 'tiny',
      messages,
      tools: [{ type: 'function' as const, function: { name: task.tool, description, parameters: schema } }],
      max_completion_tokens: task.maxTokens,
      ...samplingOf(task),
    }
    const completion = stream
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request)
    const message = completion.choices[0]?.message
    if (!message) throw new Error('the completion has no choice')
    messages.push(message)
    if (!message.tool_calls?.length)
      return { text: message.content, results, tokens: completion.usage?.total_tokens ?? null }
    for (const call of message.tool_calls) {
      if (call.type !== 'function') throw new Error('the call is no function call')
      results.push(runTool(JSON.parse(call.function.arguments)))
      messages.push({ role: 'tool', tool_call_id: call.id, content: results.at(-1) ?? '' })
    }
  }
}

async function anthropicMessages({ origin, key, stream, task }: Connection): Promise<ClientResult> {
  const { description, schema, run: runTool } = TOOLS[task.tool]
  const client = new Anthropic({ baseURL: origin, apiKey: key, maxRetries: task.retries ?? 0 })
  const results: string[] = []
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: task.question }]
  for (;;) {
    const request = {
      model: 'tiny',
      max_tokens: task.maxTokens,
      ...samplingOf(task),
      system: SYSTEM,
      messages,
      tools: [{ name: task.tool, description, input_schema: schema }],
    }
    const message = stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
    messages.push({ role: 'assistant', content: message.content })
    const calls = message.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) {
      const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      const { input_tokens, cache_read_input_tokens, output_tokens } = message.usage
      return { text, results, tokens: input_tokens + (cache_read_input_tokens ?? 0) + output_tokens }
    }
    messages.push({
      role: 'user',
      content: calls.map(({ id, input }) => {
        results.push(runTool(input as ToolInput))
        return { type: 'tool_result' as const, tool_use_id: id, content: results.at(-1) ?? '' }
      }),
    })
  }
}

async function vercel({ origin, key, stream, task }: Connection): Promise<ClientResult> {
  const { description, schema, run: runTool } = TOOLS[task.tool]
  const provider = createOpenAICompatible({
    name: 'rollscope',
    baseURL: `${origin}/v1`,
    apiKey: key,
    includeUsage: true,
  })
  const results: string[] = []
  const request = {
    model: provider('tiny'),
    system: SYSTEM,
    prompt: task.question,
    maxRetries: 0,
    maxOutputTokens: task.maxTokens,
    ...samplingOf(task),
    tools: {
      [task.tool]: tool({
        description,
        inputSchema: jsonSchema<ToolInput>(schema),
        execute: (input) => {
          results.push(runTool(input))
          return results.at(-1) ?? ''
        },
      }),
    },
    stopWhen: stepCountIs(4),
  }
  const result = stream ? streamText(request) : await generateText(request)
  const [text, usage] = [await result.text, await result.usage]
  return { text, results, tokens: usage.totalTokens ?? null }
}
