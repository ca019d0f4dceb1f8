/** Files into the library, and the tokenizer of those that came without their texts. */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { lacksTexts, takesTokenizer } from '#lib/core/texts.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { openText } from '#lib/formats/open.ts'
import { formats } from '#lib/formats/registry.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { DEFAULT_PARSER } from '#lib/parsers/registry.ts'
import { type ChatTemplate, TemplateError } from '#lib/templates/chat-template.ts'
import { endOfTurnId } from '#lib/tito/prompt.ts'
import { foreignId, type TextSource, withTokenizer } from '#lib/tito/with-tokenizer.ts'
import type { LoadedTokenizer } from '#lib/tokenizer-files/tokenizer-files.ts'
import { parserOrProblem } from './parse.ts'
import { Problem } from './problem.ts'
import { readText } from './route.ts'
import type { Services } from './services.ts'
import { formatNamed, storedTrajectory } from './trajectories.ts'

const LARGEST_FILE = 128 << 20
const LONGEST_FILE_NAME = 1000

interface Imported {
  /** Name of the format found. */
  readonly format: string
  /** Keys, in the order of the file. */
  readonly trajectories: readonly string[]
  /** What the first is called and when it was made: given here where its record says neither. */
  readonly first: Pick<Trajectory, 'id' | 'createdAt'>
  /** What the file did not say, over all of its trajectories. */
  readonly lacked: readonly string[]
}

/** Stores all trajectories of a file, or none. Throws Problem. */
export async function importFile(request: Request, all: Services): Promise<Imported> {
  const query = new URL(request.url).searchParams
  const named = query.get('format')
  const as = named === null ? undefined : formatNamed(named, formats, 'format')
  const tokenizer = query.get('tokenizer')
  // Looked up without a tokenizer too: a misspelled name is told before it matters.
  const parser = parserOrProblem(query.get('parser') ?? DEFAULT_PARSER)
  const texts = tokenizer === null ? undefined : await textSource(tokenizer, parser, all, request.signal)
  const opened = openText(
    await readText(
      request,
      LARGEST_FILE,
      'Store its records in several files, for example some lines of JSON lines in each.',
    ),
    {
      file: query.get('name')?.slice(0, LONGEST_FILE_NAME),
      now: new Date().toISOString(),
      newId: randomUUID,
    },
    as,
  )
  if (!opened.ok)
    throw new Problem({ status: 422, code: 'BAD_FILE', detail: opened.error.message, hint: opened.error.hint })
  const complete = opened.trajectories.map((trajectory) =>
    texts && lacksTexts(trajectory) ? toldBy(trajectory, texts) : trajectory,
  )
  const [first] = complete
  if (!first) throw new Error('a file that opens has a trajectory')
  return {
    format: opened.format.name,
    trajectories: all.store.addAll(complete),
    first: { id: first.id, createdAt: first.createdAt },
    lacked: [...new Set(complete.flatMap(({ provenance }) => (provenance.kind === 'import' ? provenance.lacked : [])))],
  }
}

export const tokenizerChoiceSchema = z.strictObject({
  tokenizer: z.string().min(1).max(4096).describe('Hub name, or a folder under ROLLSCOPE_TOKENIZERS.'),
  parser: z.string().exactOptional().describe(`Of the tool calls in the text. Default ${DEFAULT_PARSER}.`),
})

/** Finds the texts of a trajectory that was imported without them, or with the wrong tokenizer. Throws Problem. */
export async function chooseTokenizer(
  key: string,
  { tokenizer, parser }: z.infer<typeof tokenizerChoiceSchema>,
  all: Services,
  signal: AbortSignal,
): Promise<Trajectory> {
  const texts = await textSource(tokenizer, parserOrProblem(parser ?? DEFAULT_PARSER), all, signal)
  const found = storedTrajectory(key, all)
  if (!takesTokenizer(found))
    throw new Problem({
      status: 409,
      code: 'HAS_TOKENIZER',
      detail: 'this trajectory was made with its tokenizer: another one would give its ids other texts',
    })
  const told = toldBy(found, texts)
  all.store.update(key, told, 0)
  return told
}

/** Throws TokenizerError where there is no such tokenizer. */
async function textSource(
  name: string,
  parser: ToolParser,
  { tokenizers }: Services,
  signal: AbortSignal,
): Promise<TextSource> {
  const { tokenizer, template } = await tokenizers.load(name, signal)
  const chat = compiled(template)
  return { tokenizer, endOfTurnId: chat && endOfTurnId({ tokenizer, template: chat }, {}), parser }
}

/** Only where turns end is asked of it: one that does not compile counts as none. */
function compiled(template: LoadedTokenizer['template']): ChatTemplate | undefined {
  try {
    return template(false)
  } catch (error) {
    if (error instanceof TemplateError) return undefined
    throw error
  }
}

function toldBy(trajectory: Trajectory, texts: TextSource): Trajectory {
  const foreign = foreignId(trajectory, texts.tokenizer)
  if (!foreign) return withTokenizer(trajectory, texts)
  throw new Problem({
    status: 422,
    code: 'OTHER_TOKENIZER',
    detail: `token ${foreign.tokenIndex} has the id ${foreign.id}, and ${texts.tokenizer.name} has only ${texts.tokenizer.vocabularySize} ids`,
    hint: 'The file was made with another model: name its tokenizer.',
  })
}
