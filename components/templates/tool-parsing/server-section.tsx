'use client'
import { useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import type { ServerParsing, ServerQuestion } from '#lib/api/server-parsing.ts'
import type { ParserReading } from '#lib/templates/tool-parsing/analysis.ts'
import { type ServerCall, serverView } from '#lib/templates/tool-parsing/server-view.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { TaskBanner } from '../editor/failure-banner.tsx'

/** Requests the server's parse of a completion. Rejects with ApiError or with the signal's reason. */
export type AskServer = (server: string, question: ServerQuestion, signal: AbortSignal) => Promise<ServerParsing>

interface ServerSectionProps {
  readonly text: string
  readonly tools: readonly ToolSpec[]
  /** Every parser's view of the text. */
  readonly lanes: readonly ParserReading[]
  /** Names of the servers. */
  readonly servers: readonly string[]
  readonly first: string
  /** Why a server has no parsers for given texts, by its name. Servers that may have some are omitted. */
  readonly refusals: Readonly<Record<string, string>>
  readonly ask: AskServer
}

type Asked =
  | { readonly kind: 'asking' }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'answered'; readonly text: string; readonly server: string; readonly parsing: ServerParsing }

/** The completion as SGLang's own parsers read it, compared with ours. */
export function ServerSection({ text, tools, lanes, servers, first, refusals, ask }: ServerSectionProps) {
  const [chosen, setServer] = useState<string>()
  const server = chosen ?? first
  const refusal = refusals[server]
  const [toolCallParser, setToolCallParser] = useState('')
  const [reasoningParser, setReasoningParser] = useState('')
  const [request, setAsked] = useState<Asked>()
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  const best = lanes.reduce<ParserReading | undefined>((a, b) => (a && readCalls(a) >= readCalls(b) ? a : b), undefined)

  const send = async () => {
    const controller = new AbortController()
    abort.current?.abort()
    abort.current = controller
    setAsked({ kind: 'asking' })
    try {
      const question = {
        text,
        tools,
        ...(toolCallParser.trim() !== '' && { toolCallParser: toolCallParser.trim() }),
        ...(reasoningParser.trim() !== '' && { reasoningParser: reasoningParser.trim() }),
        ...(best && { parser: best.parser }),
      }
      const parsing = await ask(server, question, controller.signal)
      if (!controller.signal.aborted) setAsked({ kind: 'answered', text, server, parsing })
    } catch (error) {
      if (!controller.signal.aborted)
        setAsked({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  return (
    <section aria-label="The server’s own parsers" className="px-3.5 py-3">
      <Heading>The server’s own parsers</Heading>
      <form
        className="mt-1 grid items-end gap-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_minmax(0,1fr)_auto]"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <SelectField label="Server" value={server} onChange={({ target }) => setServer(target.value)}>
          {servers.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <TextField
          label="Tool-call parser"
          explanation="SGLang’s name, such as qwen25 or qwen3_coder. Empty: the parser that the server runs with."
          placeholder="the server’s own"
          value={toolCallParser}
          onChange={({ target }) => setToolCallParser(target.value)}
        />
        <TextField
          label="Reasoning parser"
          explanation="SGLang’s name, such as qwen3 or deepseek-r1. Empty: the parser that the server runs with."
          placeholder="the server’s own"
          value={reasoningParser}
          onChange={({ target }) => setReasoningParser(target.value)}
        />
        <Button type="submit" disabled={request?.kind === 'asking' || text === '' || refusal !== undefined}>
          Parse on the server
        </Button>
      </form>
      {refusal !== undefined && <p className="mt-1.5 text-dim text-xs">{refusal}</p>}
      <div aria-live="polite" className="mt-2 text-xs">
        {request?.kind === 'asking' && <p className="text-dim">Asking {server}…</p>}
        {request?.kind === 'failed' && <TaskBanner error={request.error} />}
        {request?.kind === 'answered' && (
          <div className={request.text === text ? '' : 'opacity-45'} data-server-answer={request.server}>
            {request.text !== text && <p className="text-dim">Result for the previous text.</p>}
            <ToolCalls {...request} lanes={lanes} />
            <Reasoning {...request} />
          </div>
        )}
      </div>
    </section>
  )
}

const readCalls = ({ calls }: ParserReading): number => calls.filter(({ kind }) => kind === 'parsed').length

interface AnswerProps {
  readonly text: string
  readonly server: string
  readonly parsing: ServerParsing
}

const VERDICTS: Readonly<Record<ServerCall['verdict'], string>> = {
  same: '✓ same as here',
  other: '✗ different arguments',
  'server-only': '✗ not read here',
}

function ToolCalls({ text, server, parsing: { toolCalls }, lanes }: AnswerProps & Pick<ServerSectionProps, 'lanes'>) {
  if (toolCalls.state !== 'answered')
    return <Unanswered what="tool calls" path="/parse_function_call" server={server} answer={toolCalls} />
  // Our format whose calls are most similar to the server's is compared.
  const views = lanes.map((lane) => ({ lane, view: serverView(text, lane, toolCalls) }))
  const likeness = ({ view }: (typeof views)[number]) => view.calls.filter(({ verdict }) => verdict === 'same').length
  const nearest = views.reduce<(typeof views)[number] | undefined>(
    (a, b) => (a && likeness(a) + readCalls(a.lane) / 1000 >= likeness(b) + readCalls(b.lane) / 1000 ? a : b),
    undefined,
  )
  return (
    <div>
      <p className="text-dim">
        <code className="font-mono text-ink">{toolCalls.parser}</code> reads{' '}
        {countWithNoun(toolCalls.calls.length, 'call')}
        {nearest && <>, beside {nearest.lane.parser} here</>}.
      </p>
      <ul className="mt-1 grid gap-1">
        {nearest?.view.calls.map((call, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the calls of one answer do not change
          <li key={index} className="[overflow-wrap:anywhere]" data-server-call={call.verdict}>
            <code className="font-mono">
              <span className="font-semibold text-tool">{call.name ?? 'no name'}</span> {call.arguments}
            </code>{' '}
            <span className={call.verdict === 'same' ? 'text-good' : 'text-warn'}>{VERDICTS[call.verdict]}</span>
          </li>
        ))}
      </ul>
      {nearest?.view.dropped.map(({ start, end }) => (
        <p key={start} className="mt-1 text-warn [overflow-wrap:anywhere]" data-server-dropped>
          The server drops silently:{' '}
          <code className="whitespace-pre-wrap font-mono line-through">{text.slice(start, end)}</code>
        </p>
      ))}
      <p className="mt-1 text-dim [overflow-wrap:anywhere]">
        It leaves{' '}
        {toolCalls.normalText === '' ? (
          'no text'
        ) : (
          <code className="whitespace-pre-wrap font-mono">{toolCalls.normalText}</code>
        )}
        .
      </p>
    </div>
  )
}

function Reasoning({ server, parsing: { reasoning } }: AnswerProps) {
  if (reasoning.state !== 'answered')
    return <Unanswered what="thinking" path="/separate_reasoning" server={server} answer={reasoning} />
  return (
    <p className="mt-2 border-line border-t pt-2 text-dim [overflow-wrap:anywhere]">
      <code className="font-mono text-ink">{reasoning.parser}</code>{' '}
      {reasoning.reasoning === '' ? (
        'separates no thinking.'
      ) : (
        <>
          separates as thinking:{' '}
          <code className="whitespace-pre-wrap font-mono text-think italic">{reasoning.reasoning}</code>
        </>
      )}
    </p>
  )
}

interface UnansweredProps {
  readonly what: string
  readonly path: string
  readonly server: string
  readonly answer: Exclude<ServerParsing['toolCalls'] | ServerParsing['reasoning'], { readonly state: 'answered' }>
}

/** A note, not a warning: most servers lack the endpoints, and nothing else depends on them. */
function Unanswered({ what, path, server, answer }: UnansweredProps) {
  switch (answer.state) {
    case 'absent':
      return (
        <p className="text-dim" data-unanswered="absent">
          {server} does not parse {what} itself: it has no <code className="font-mono">{path}</code>.
        </p>
      )
    case 'not-asked':
      return (
        <p className="text-dim" data-unanswered="not-asked">
          {server} was not requested {what}: it runs without such a parser, and none is named above.
        </p>
      )
    case 'failed':
      return (
        <p className="text-bad [overflow-wrap:anywhere]" data-unanswered="failed">
          {path}: {answer.message} {answer.hint !== undefined && <span className="text-dim">{answer.hint}</span>}
        </p>
      )
  }
}
