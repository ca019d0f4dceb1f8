/** Chooses the tokenizer and the chat template of a run, and the fields of its trajectory that record them. */

import { BUILT_IN } from '#lib/api/server-name.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { openServerPromptEncoder } from '#lib/engine/tokenizer/server-encoder.ts'
import { checkTokenizer } from '#lib/engine/tokenizer/tokenizer-check.ts'
import { computeSettled, endOfTurnId, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { type ChatTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { isFolderName } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { HttpProblem, type ProblemDetails } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { slowRenders } from '../templates/threaded-tokenizer.ts'

/** The choice of tokenizer and template in a request. */
export interface TokenizerRequest {
  /** Hub name, folder or `server`. Undefined: the one that the server names, or the server's own if that one is not available here. */
  readonly tokenizer: string | undefined
  /** Chat template in Jinja; undefined: the tokenizer's own. */
  readonly chatTemplate: string | undefined
  readonly options: Readonly<Record<string, unknown>>
  readonly hasTools: boolean
  /** False if the prompt is given as text or ids; the tokenizer may then lack a chat template. */
  readonly needsTemplate: boolean
}

interface ServerMeant {
  readonly name: string
  /** The name that the server reports for its tokenizer. */
  readonly tokenizerName: string | undefined
}

type Blocks = Pick<Trajectory['model'], 'tokenizer' | 'template'>

/** Returns the encoder of a new trajectory, and its fields. Throws HttpProblem, EngineError or TemplateError. */
export async function choosePromptEncoder(
  tokenizerRequest: TokenizerRequest,
  server: ServerMeant,
  all: Services,
  signal: AbortSignal,
): Promise<{ readonly promptEncoder: PromptEncoder; readonly blocks: Blocks }> {
  const loaded =
    tokenizerRequest.tokenizer === SERVER_TOKENIZER
      ? undefined
      : await loadPromptEncoder(tokenizerRequest, server, all, signal)
  const served = loaded ? undefined : await serverPromptEncoder(server, tokenizerRequest.chatTemplate, all, signal)
  const promptEncoder = (loaded ?? served) as PromptEncoder
  const { tokenizer, template } = promptEncoder
  const endOfTurn = await computeSettled(
    promptEncoder,
    () => endOfTurnId(promptEncoder, tokenizerRequest.options),
    signal,
  )
  return {
    promptEncoder,
    blocks: {
      tokenizer: {
        name: tokenizer.name,
        ...(served && { source: 'server' }),
        fingerprint: tokenizer.fingerprint,
        ...(Number.isFinite(tokenizer.vocabularySize) && { vocabularySize: tokenizer.vocabularySize }),
        specialIds: [],
        ...(endOfTurn !== undefined && { endOfTurnId: endOfTurn }),
      },
      ...(template !== NO_TEMPLATE && {
        template: {
          ...(served?.templateFingerprint !== undefined && {
            source: 'server',
            fingerprint: served.templateFingerprint,
          }),
          text: template.text,
          options: tokenizerRequest.options,
        },
      }),
    },
  }
}

/** Replaces the template of a tokenizer that has none. */
const NO_TEMPLATE: ChatTemplate = {
  text: '',
  render() {
    throw new TemplateError('the tokenizer has no chat template')
  },
}

/** Returns the encoder that a trajectory began with, because any other would write other ids. Throws HttpProblem or EngineError. */
export async function recordedPromptEncoder(
  { tokenizer, template }: Blocks,
  server: ServerMeant,
  all: Services,
  signal: AbortSignal,
): Promise<PromptEncoder> {
  if (!tokenizer || !template)
    throw new HttpProblem({
      status: 422,
      code: 'NO_TOKENIZER',
      detail: 'this trajectory does not record its tokenizer and its chat template',
      hint: 'Only trajectories with both can be continued.',
    })
  const isOther = (found: string, recorded: string | undefined) => recorded !== undefined && found !== recorded
  if (tokenizer.source !== 'server') {
    const { loaded, settle } = all.threaded(await all.tokenizers.load(tokenizer.name, signal), tokenizer.name)
    if (isOther(loaded.tokenizer.fingerprint, tokenizer.fingerprint))
      throw new HttpProblem({
        status: 422,
        code: 'OTHER_TOKENIZER',
        detail: `the tokenizer ${tokenizer.name} has changed since this trajectory was made`,
        hint: 'The recorded ids would get other texts. Make the original version of the tokenizer available.',
      })
    if (!isBuiltIn(tokenizer.name, server))
      await checkTokenizer(loaded.tokenizer, all.servers.client(server.name), signal)
    // The recorded template is used, even if the tokenizer ships with another one by now.
    return { tokenizer: loaded.tokenizer, template: loaded.compile(template.text), settle }
  }
  const promptEncoder = await serverPromptEncoder(
    { ...server, tokenizerName: tokenizer.name },
    template.source === 'server' ? undefined : template.text,
    all,
    signal,
  )
  const hint = 'Choose the server that ran the trajectory, or another server with the same model.'
  if (isOther(promptEncoder.tokenizer.fingerprint, tokenizer.fingerprint))
    throw new HttpProblem({
      status: 422,
      code: 'OTHER_TOKENIZER',
      detail: `the tokenizer of the server ${server.name} is not the tokenizer of this trajectory`,
      hint,
    })
  if (
    promptEncoder.templateFingerprint !== undefined &&
    isOther(promptEncoder.templateFingerprint, template.fingerprint)
  )
    throw new HttpProblem({
      status: 422,
      code: 'OTHER_TEMPLATE',
      detail: `the chat template of the server ${server.name} writes turns differently than it did when this trajectory was run`,
      hint,
    })
  return promptEncoder
}

/**
 * Returns a tokenizer from files. Undefined if the user chose none and the server's files are where this machine cannot read them. Throws
 * HttpProblem.
 */
async function loadPromptEncoder(
  tokenizerRequest: TokenizerRequest,
  server: ServerMeant,
  all: Services,
  signal: AbortSignal,
): Promise<PromptEncoder | undefined> {
  const name = tokenizerRequest.tokenizer ?? (server.name === BUILT_IN ? BUILT_IN : server.tokenizerName)
  if (name === undefined) return undefined
  const client = all.servers.client(server.name)
  const refused = async (details: ProblemDetails): Promise<HttpProblem> =>
    new HttpProblem({ ...details, ...((await canTokenize(client, signal)) && { remedy: 'server-tokenizer' }) })
  try {
    const { loaded, settle } = all.threaded(await all.tokenizers.load(name, signal), name)
    if (!isBuiltIn(name, server)) await checkTokenizer(loaded.tokenizer, client, signal)
    const template =
      tokenizerRequest.chatTemplate === undefined
        ? loaded.template(tokenizerRequest.hasTools)
        : loaded.compile(tokenizerRequest.chatTemplate)
    if (template) return { tokenizer: loaded.tokenizer, template, settle }
    if (!tokenizerRequest.needsTemplate) return { tokenizer: loaded.tokenizer, template: NO_TEMPLATE, settle }
  } catch (error) {
    if (error instanceof TokenizerError) {
      if (tokenizerRequest.tokenizer === undefined && isElsewhere(name, error) && (await canTokenize(client, signal)))
        return undefined
      throw await refused({ status: 422, code: error.code, detail: error.message, hint: error.hint })
    }
    if (error instanceof EngineError && error.code === 'TOKENIZER_MISMATCH')
      throw await refused({ status: 422, code: error.code, detail: error.message, hint: error.hint })
    throw error
  }
  throw await refused({
    status: 422,
    code: 'NO_TEMPLATE',
    detail: `the tokenizer ${name} has no chat template`,
    hint: 'Choose the tokenizer of the chat or instruct version of the model, or set a chat template.',
  })
}

/** Returns whether a name is a path on the server's own disk: the user did not choose it and can correct nothing here. */
const isElsewhere = (name: string, { code }: TokenizerError): boolean =>
  code === 'TOKENIZER_REFUSED' || (code === 'TOKENIZER_NOT_FOUND' && isFolderName(name))

/** Returns whether the tokenizer and the server are both the built-in ones, which load the same files. */
const isBuiltIn = (name: string, server: ServerMeant): boolean => name === BUILT_IN && server.name === BUILT_IN

async function canTokenize(client: ReturnType<Services['servers']['client']>, signal: AbortSignal): Promise<boolean> {
  try {
    await client.tokenize(['a'], signal)
    return true
  } catch (error) {
    if (error instanceof EngineError) return false
    throw error
  }
}

async function serverPromptEncoder(
  server: ServerMeant,
  templateText: string | undefined,
  all: Services,
  signal: AbortSignal,
): ReturnType<typeof openServerPromptEncoder> {
  try {
    const name = server.tokenizerName ?? server.name
    return await openServerPromptEncoder(
      all.servers.client(server.name),
      { name, templateText, slow: slowRenders(all.rendering) },
      signal,
    )
  } catch (error) {
    if (error instanceof EngineError && error.code === 'UPSTREAM_REJECTED')
      throw new HttpProblem({
        status: 422,
        code: 'NO_SERVER_TOKENIZER',
        detail: `the server ${server.name} cannot serve as tokenizer: ${error.message}`,
        hint: 'SGLang has /tokenize and /detokenize since 0.5.5. Name the model’s tokenizer: a Hub name, or a folder under ROLLSCOPE_TOKENIZERS.',
      })
    if (error instanceof TemplateError && templateText === undefined)
      throw new HttpProblem({
        status: 422,
        code: 'NO_TEMPLATE',
        detail: `the server ${server.name} does not render conversations: ${error.message}`,
        hint: 'Set a chat template. Older servers and routers encode only texts; some tokenizers have no template.',
      })
    throw error
  }
}
