'use client'
/** The parser lab: one completion read by all parsers, each call rendered again, and which parser fits. */
import { useDeferredValue, useMemo, useState } from 'react'
import { hasSameJson } from '#lib/json/same-json.ts'
import { parserNames, parsers } from '#lib/parsers/registry.ts'
import { analyse, type ParserReading } from '#lib/templates/tool-parsing/analysis.ts'
import { completionsIn, completionsOf, type NamedCompletion } from '#lib/templates/tool-parsing/completions-file.ts'
import { toolsIn } from '#lib/templates/tool-parsing/tools.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { InputBanner, TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { useTask } from '../use-task.ts'
import { FitSection } from './fit-section.tsx'
import { PartLegend } from './parsed-text.tsx'
import { ParserLane } from './parser-lane.tsx'
import { type AskServer, ServerSection } from './server-section.tsx'
import { SourceBox } from './source-box.tsx'

interface ParsingTabProps extends LabTabProps {
  /** Names of the servers that the user can choose. */
  readonly servers: readonly string[]
  /** Why a server has no parsers for given texts, by its name. */
  readonly serverRefusals: Readonly<Record<string, string>>
  readonly askServer: AskServer
  /** Text of the last completion; '' for none. */
  readonly kept: string
  readonly onKeep: (text: string) => void
}

const PAUSE_MS = 120

/** The tab of the parser lab. */
export function ParsingTab(props: ParsingTabProps) {
  const { input, tokenizer, trajectory, run, onLine, servers, serverRefusals, server, askServer, kept, onKeep } = props
  const responses = useMemo(() => (trajectory ? completionsOf(trajectory, '') : []), [trajectory])
  const [file, setFile] = useState<OpenedFile>()
  const [fileProblem, setFileProblem] = useState<string>()
  const [chosen, setChosen] = useState<NamedCompletion | undefined>(() => storedCompletion(kept, responses))
  const completion = chosen ?? firstOf(trajectory, responses)
  const [chosenParsers, setChosenParsers] = useState<readonly string[]>()
  const { text } = completion
  const seen = useDeferredValue(text)
  const tools = useMemo(() => toolsIn(input.tools), [input.tools])
  const lanes = useMemo(() => parsers.map((parser) => analyse(seen, parser, tools)), [seen, tools])
  const visibleParsers = chosenParsers ?? findingParsers(lanes)
  const tokenizers = tokenizer === '' ? [] : [tokenizer]
  const written = useTask(
    run,
    'parsing',
    { completion, parsers: parserNames, input },
    { tokenizers, pauseMs: PAUSE_MS },
  )
  const reRenderings = written.kind === 'done' ? written.result.lanes : []
  const failure = reRenderings.map(({ reRendering }) => reRendering).find((one) => one?.kind === 'failed')

  const setCompletion = (changed: NamedCompletion) => {
    setChosen(changed)
    onKeep(changed.text)
  }
  const open = async (opened: File) => {
    const found = completionsIn(await opened.text())
    const [first] = found.completions
    if (!first) return setFileProblem(`${opened.name} contains no completions.`)
    setFileProblem(undefined)
    setFile({ name: opened.name, ...found })
    setCompletion(first)
  }
  const choices = [
    ...(responses.length > 0 ? [{ label: 'Responses of the open trajectory', completions: responses }] : []),
    ...(file ? [{ label: fileLabel(file), completions: file.completions }] : []),
  ]
  const many = file?.completions ?? responses
  return (
    <div className="h-full overflow-y-auto" data-parser-lab>
      <SourceBox
        completion={completion}
        choices={choices}
        onType={(typed) => setCompletion({ text: typed, from: '' })}
        onPick={setCompletion}
        onFile={open}
        fileProblem={fileProblem}
      />
      {text !== '' && (
        <>
          <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-line border-b px-3.5 py-2">
            <ParserChips
              parsers={lanes.map((lane) => ({ name: lane.parser, calls: readIn(lane) }))}
              shown={visibleParsers}
              onChange={setChosenParsers}
            />
            <PartLegend />
          </div>
          {failure?.kind === 'failed' && <InputBanner error={failure.error} onLine={onLine} />}
          {written.kind === 'failed' && <TaskBanner error={written.error} />}
          {lanes
            .filter(({ parser }) => visibleParsers.includes(parser))
            .map((lane) => (
              <ParserLane
                key={lane.parser}
                text={seen}
                lane={lane}
                reRendering={reRenderings.find(({ parser }) => parser === lane.parser)?.reRendering}
                better={betterThan(lane, lanes)}
                onLine={onLine}
              />
            ))}
          {visibleParsers.length === 0 && (
            <p className="border-line border-b px-3.5 py-3 text-faint">No parser is chosen.</p>
          )}
        </>
      )}
      <FitSection
        input={input}
        tokenizers={tokenizers}
        run={run}
        shown={seen}
        completions={many}
        onPick={setCompletion}
        onLine={onLine}
      />
      {text !== '' && (
        <ServerSection {...{ text, tools, lanes, servers }} first={server} refusals={serverRefusals} ask={askServer} />
      )}
    </div>
  )
}

/** Returns the parsers that find a call, malformed or not; all parsers if none does. */
function findingParsers(lanes: readonly ParserReading[]): readonly string[] {
  const finding = lanes
    .filter(({ calls }) => calls.length > 0)
    // Parsers of related formats find the same calls. The first one is enough.
    .filter(({ calls }, index, all) => all.findIndex((other) => hasSameJson(other.calls, calls)) === index)
  return (finding.length > 0 ? finding : lanes).map(({ parser }) => parser)
}

interface OpenedFile {
  readonly name: string
  readonly completions: readonly NamedCompletion[]
  readonly skipped: number
}

const fileLabel = ({ name, skipped }: OpenedFile): string =>
  skipped === 0 ? name : `${name} (${skipped} ${skipped === 1 ? 'line' : 'lines'} without a completion)`

/** Returns the kept completion, with its ids if it is one of the responses. */
const storedCompletion = (text: string, responses: readonly NamedCompletion[]): NamedCompletion | undefined =>
  text === '' ? undefined : (responses.find((response) => response.text === text) ?? { text, from: '' })

const NOTHING: NamedCompletion = { text: '', from: '' }

/** Returns the first response with calls, else the first response. */
function firstOf(trajectory: TrajectoryView | undefined, responses: readonly NamedCompletion[]): NamedCompletion {
  const all = trajectory?.segments.filter((segment) => segment.kind === 'response') ?? []
  const withCalls = all.findIndex(({ toolCalls }) => toolCalls.length > 0)
  return responses[Math.max(0, withCalls)] ?? NOTHING
}

function betterThan(
  lane: ParserReading,
  lanes: readonly ParserReading[],
): { parser: string; calls: number } | undefined {
  const own = readIn(lane)
  const best = lanes.reduce((a, b) => (readIn(b) > readIn(a) ? b : a), lane)
  return readIn(best) > own ? { parser: best.parser, calls: readIn(best) - own } : undefined
}

const readIn = ({ calls }: ParserReading): number =>
  calls.filter((call) => call.kind === 'parsed' && call.isKnown !== false).length

interface ParserChipsProps {
  readonly parsers: readonly { readonly name: string; readonly calls: number }[]
  readonly shown: readonly string[]
  readonly onChange: (shown: readonly string[]) => void
}

/** Buttons that choose which parsers are shown; each shows how many calls it reads. */
function ParserChips({ parsers, shown, onChange }: ParserChipsProps) {
  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">Parsers</legend>
      {parsers.map(({ name, calls }) => {
        const isShown = shown.includes(name)
        return (
          <button
            key={name}
            type="button"
            aria-pressed={isShown}
            onClick={() =>
              onChange(parsers.map((one) => one.name).filter((one) => (one === name ? !isShown : shown.includes(one))))
            }
            className="min-h-7 rounded-md border border-line bg-raised px-2.5 font-mono text-xs hover:border-line-strong aria-pressed:border-ink aria-pressed:bg-ink aria-pressed:text-ground"
          >
            {name}
            <span className="ml-1.5 tabular-nums opacity-70">{calls}</span>
          </button>
        )
      })}
    </fieldset>
  )
}
