/** What answers the calls of a session: its server, tokenizer, chat template and parser. It is found once and used until the server fails. */

import type { ServerDescription } from '#lib/api/server-status.ts'
import type { SessionSettings } from '#lib/api/sessions/session.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { type PromptContext, promptContext } from '#lib/session/forest/forest.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { singleFlight } from '#lib/util/single-flight.ts'
import { choosePromptEncoder, recordedPromptEncoder } from '../runs/prompt-encoder.ts'
import { parserFor, withoutTokens } from '../runs/rollouts.ts'
import type { Services } from '../services.ts'
import { parserOrProblem } from '../templates/parse.ts'

/** What answers calls with the same tools and template options. */
export interface Serving {
  readonly serverName: string
  readonly server: ServerDescription
  readonly promptEncoder: PromptEncoder
  readonly parser: ToolParser
  readonly context: PromptContext
  /** The trajectory of a new root, without an id and segments. */
  readonly empty: Omit<Trajectory, 'id' | 'createdAt'>
}

/** What a call needs. */
interface ServingNeeds {
  readonly tools: Trajectory['model']['tools']
  readonly options: Readonly<Record<string, unknown>>
}

/** Finds what answers the calls of one session. */
export interface SessionServing {
  /** Throws HttpProblem, EngineError or TemplateError. */
  find(needs: ServingNeeds, signal: AbortSignal): Promise<Serving>
  /** Returns the encoder with which a trajectory continues: the one that it began with. Throws like `find`. */
  encoderOf(trajectory: Trajectory, serving: Serving, signal: AbortSignal): Promise<PromptEncoder>
  /** Forgets everything, because the server failed and may come back with another model. */
  forget(): void
}

/** Tools and options of one session rarely differ, except for those of sub-agents. */
const MOST_KEPT = 32

/** Creates the finder for a session. */
export function createSessionServing(settings: SessionSettings, all: Services): SessionServing {
  /** A client that leaves does not end what another one waits for: clients of /sessions/auto share one finder. */
  const found = new Map<string, ReturnType<typeof singleFlight<Serving>>>()
  const forget = () => found.clear()
  return {
    forget,
    find(needs, signal) {
      const key = JSON.stringify(needs)
      const flight = found.get(key) ?? singleFlight()
      if (!found.has(key) && found.size >= MOST_KEPT) forget()
      found.set(key, flight)
      return flight((stop) => findServing(settings, needs, all, stop), signal)
    },
    async encoderOf({ model }, serving, signal) {
      const { promptEncoder, serverName, server, empty } = serving
      const isSame =
        model.tokenizer?.fingerprint === empty.model.tokenizer?.fingerprint &&
        model.template?.text === empty.model.template?.text
      return isSame
        ? promptEncoder
        : recordedPromptEncoder(model, { name: serverName, tokenizerName: server.tokenizerName }, all, signal)
    },
  }
}

async function findServing(
  settings: SessionSettings,
  { tools, options }: ServingNeeds,
  all: Services,
  signal: AbortSignal,
): Promise<Serving> {
  const serverName = settings.server ?? all.servers.defaultName
  const server = await all.servers.client(serverName).describe(signal)
  // The parser is checked before a tokenizer is downloaded.
  if (settings.parser !== undefined) parserOrProblem(settings.parser)
  const { promptEncoder, blocks } = await choosePromptEncoder(
    {
      tokenizer: settings.tokenizer,
      chatTemplate: settings.chatTemplate,
      options,
      hasTools: tools.length > 0,
      needsTemplate: true,
    },
    { name: serverName, tokenizerName: server.tokenizerName },
    all,
    signal,
  )
  const parser = parserFor(settings.parser, server, promptEncoder)
  const empty = withoutTokens(server, { ...blocks, tools, parser: parser.name }, all)
  return {
    serverName,
    server,
    promptEncoder,
    parser,
    context: promptContext(
      tools,
      JSON.stringify([blocks.template?.text, blocks.template?.fingerprint, blocks.tokenizer?.fingerprint]),
      options,
    ),
    empty: {
      ...empty,
      provenance: { ...empty.provenance, ...(settings.mode === 'observe' && { endpoint: 'chat' as const }) },
      ...(settings.tags && { tags: settings.tags }),
    },
  }
}
