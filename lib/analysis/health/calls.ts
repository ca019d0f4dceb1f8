/** Checks tool calls: calls that failed, results that the model did not read, and calls that only another parser reads. */

import { missedCalls } from '#lib/parsers/missed-calls.ts'
import type { ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { HealthFinding } from '#lib/trajectory/health/health.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { type HealthCheck, toTrajectorySpan } from './check.ts'
import { resultReadings } from './unread-results.ts'

/** Reports malformed and failed calls, unread results and missed calls. The last two are unknown if token texts are unknown. */
export const checkCalls: HealthCheck = (trajectory, starts) => {
  const calls = trajectory.segments.flatMap((segment, index) =>
    segment.kind === 'response'
      ? segment.toolCalls.map((call) => ({ call, place: toTrajectorySpan(call.span, elementAt(starts, index)) }))
      : [],
  )
  const malformed = calls.filter(({ call }) => call.kind === 'malformed')
  const failed = calls.filter(({ call }) => call.kind === 'parsed' && call.result?.status === 'error')
  const findings: HealthFinding[] = []
  if (malformed.length > 0)
    findings.push({
      kind: 'malformed-call',
      severity: 'warning',
      label: countWithNoun(malformed.length, 'malformed call'),
      message: `A tool call could not be parsed and was not executed: ${whyOf(malformed[0]?.call)}`,
      count: malformed.length,
      places: malformed.map(({ place }) => place),
      remedy: 'Check whether the model wrote it this way, or whether the parser of the run does not fit the template.',
    })
  if (failed.length > 0)
    findings.push({
      kind: 'failed-call',
      severity: 'note',
      label: countWithNoun(failed.length, 'failed call'),
      message: `The tool returned an error: ${beginningOf(failed[0]?.call)}`,
      count: failed.length,
      places: failed.map(({ place }) => place),
      remedy: 'Check the arguments of the call, and how the model reacted to the error.',
    })
  return lacksTexts(trajectory)
    ? { findings, unknown: 'the texts of the tokens are unknown' }
    : { findings: [...findings, ...unreadFindings(trajectory, starts), ...missedFindings(trajectory, starts)] }
}

/** Quoted results are cut after this many characters. */
const QUOTE_LENGTH = 200

function beginningOf(call: ToolCall | undefined): string {
  const text = (call?.kind === 'parsed' ? (call.result?.text ?? '') : '').replace(/\s+/g, ' ').trim()
  return text.length > QUOTE_LENGTH ? `${text.slice(0, QUOTE_LENGTH)} …` : text
}

const whyOf = (call: ToolCall | undefined): string => (call?.kind === 'malformed' ? call.why : '')

function unreadFindings(trajectory: Trajectory, starts: readonly number[]): readonly HealthFinding[] {
  const unread = resultReadings(trajectory, starts).filter(({ isRead }) => !isRead)
  const [first] = unread
  return first
    ? [
        {
          kind: 'result-not-read',
          severity: 'warning',
          label: `${countWithNoun(unread.length, 'tool result')} not in the prompt`,
          message: `The prompt after the call of ${first.call.name} does not contain its recorded result, so the model did not read it: ${beginningOf(first.call)}`,
          count: unread.length,
          places: unread.map(({ place }) => place),
          remedy:
            'Compare the prompt after the call with the result: the chat template may leave it out or shorten it, or the program that wrote the file replaced it.',
        },
      ]
    : []
}

/** Reports calls that the run did not parse. With a wrong parser nothing fails: the run continues without executing a call. */
function missedFindings(trajectory: Trajectory, starts: readonly number[]): readonly HealthFinding[] {
  const own = trajectory.model.parser ?? 'no parser'
  const byReader = Map.groupBy(missedCalls(trajectory), ({ reader: { kind, name } }) => `${kind} ${name}`)
  return Array.from(byReader.values(), (found): HealthFinding => {
    const { kind, name } = elementAt(found, 0).reader
    const places = found.flatMap(({ spans, segment }) =>
      spans.map((span) => toTrajectorySpan(span, elementAt(starts, segment))),
    )
    const responses = countWithNoun(found.length, 'response')
    const common = { kind: 'missed-call', severity: 'error', count: places.length, places } as const
    const calls = countWithNoun(places.length, 'call')
    return kind === 'rollscope'
      ? {
          ...common,
          label: `${name} finds ${countWithNoun(places.length, 'more call')}`,
          message:
            name === own
              ? `In ${responses} ${name}, the parser of the run, reads ${calls} that the file does not contain.`
              : `In ${responses} the parser ${name} reads ${calls} that ${own} did not read.`,
          remedy:
            name === own
              ? 'Check the program that wrote the file: calls that it omits have no results either.'
              : `Run with the parser ${name}: calls that are not parsed are not executed, and no error is reported.`,
        }
      : {
          ...common,
          label: `SGLang’s ${name} finds calls in ${responses}`,
          message: `In ${responses} the model wrote calls in the format of SGLang’s parser ${name}, which Rollscope does not support: no call was executed.`,
          remedy: `Run the agent over the chat endpoint of a server with --tool-call-parser ${name}.`,
        }
  })
}
