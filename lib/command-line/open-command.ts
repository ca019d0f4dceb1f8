/** `rollscope open`: stores files in the library of a running application, or of one that it starts, and prints their addresses. */
import { createReadStream, openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { type ImportResult, importedSchema } from '#lib/api/imported.ts'
import { directFetch } from '#lib/engine/http/checked-connector.ts'
import type { FolderFile } from '#lib/formats/reading/joined-files.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { failureText, refusalReason } from './application-problem.ts'
import type { CommandEnvironment, RunningApplication } from './environment.ts'
import { CommandError, EXIT } from './exit.ts'
import { filesNamed, pyTorchFilesIn } from './inputs.ts'
import { startedApplication } from './started-application.ts'

const HELP = `rollscope open FILE…

  FILE   rollouts in any format that the page opens; a folder of them, a pattern, or - for standard input

Stores the files in the library, and prints the address of each. A Rollscope that already runs on the same data folder
(ROLLSCOPE_DATA) stores them; otherwise the command starts one, which runs until Ctrl-C.

Exit status: 0 all files are stored, 2 invalid command, 3 a file could not be read or stored.
`

/** The name of standard input on the command line. */
const STANDARD_INPUT = '-'

/** Runs `rollscope open` and returns the exit status. Throws CommandError if nothing could be opened. */
export async function openCommand(argumentList: readonly string[], around: CommandEnvironment): Promise<number> {
  if (argumentList.includes('--help') || argumentList.includes('-h')) {
    around.print(HELP)
    return EXIT.well
  }
  const option = argumentList.find((argument) => argument.startsWith('-') && argument !== STANDARD_INPUT)
  if (option !== undefined)
    throw new CommandError(EXIT.usage, `rollscope open has no option ${option}: run rollscope open --help`)
  if (argumentList.length === 0) throw new CommandError(EXIT.usage, `open requires a FILE\n\n${HELP}`)
  const { files, missing, passedOver } = await filesOf(argumentList, around)
  const [first] = passedOver
  if (first !== undefined)
    around.complain(
      `${countWithNoun(passedOver.length, 'PyTorch file')} not opened, the first is ${first}. Convert it with Rollscope’s script: python public/convert_pt.py ${first}\n`,
    )
  for (const name of missing)
    around.complain(`${name}: There is no such file, and a folder of that name contains no rollouts.\n`)
  if (files.length === 0) return EXIT.unchecked
  const application = around.running()[0] ?? (await startedApplication(around))
  let isWhole = missing.length === 0
  for (const { path: shown, content } of files) {
    const stored = await storedFile(content, application)
    if (stored.ok) around.print(storedText(shown, stored.imported, application))
    else around.complain(`${shown}: ${stored.why}\n`)
    isWhole &&= stored.ok && stored.imported.failed.count === 0
  }
  return isWhole ? EXIT.well : EXIT.unchecked
}

/** A file to open. */
interface OpenedInput {
  /** Name for the user. */
  readonly path: string
  readonly content: () => Promise<InputContent>
}

interface InputContent {
  /** The stored name; undefined if there is none. */
  readonly name: string | undefined
  readonly body: Blob | ReadableStream
}

async function filesOf(names: readonly string[], { folder, input }: CommandEnvironment) {
  const files: OpenedInput[] = []
  const missing: string[] = []
  const passedOver: string[] = []
  for (const name of names) {
    if (name === STANDARD_INPUT) {
      files.push({ path: name, content: async () => ({ name: undefined, body: Readable.toWeb(Readable.from(input)) }) })
      continue
    }
    const found = await filesNamed(folder, name)
    const isFolder = (await stat(path.resolve(folder, name)).catch(() => undefined))?.isDirectory() ?? false
    files.push(...(isFolder ? await inputsOfFolder(found, folder, name) : found.map((file) => inputOf(file, folder))))
    if (found.length === 0) missing.push(name)
    passedOver.push(...(await pyTorchFilesIn(folder, name)))
  }
  return { files, missing, passedOver }
}

const inputOf = (file: string, folder: string): OpenedInput => ({
  path: file,
  content: () => fileContent(path.resolve(folder, file), path.basename(file)),
})

/** Returns the files of a folder with names that begin with it, as on the page. Files that belong together are one. */
async function inputsOfFolder(found: readonly string[], folder: string, name: string): Promise<OpenedInput[]> {
  const around = path.dirname(path.resolve(folder, name))
  const nameOf = (file: string) => path.relative(around, path.resolve(folder, file)).replaceAll(path.sep, '/')
  const { withJoinedFiles } = await import('#lib/formats/reading/joined-files.ts')
  const files = found.map((file) => ({ path: file, file: () => openAsBlob(path.resolve(folder, file)) }))
  const single = new Set<FolderFile>(files)
  return (await withJoinedFiles(files)).map((one) => ({
    path: one.path,
    content: async () =>
      single.has(one)
        ? fileContent(path.resolve(folder, one.path), nameOf(one.path))
        : { name: nameOf(one.path), body: await one.file() },
  }))
}

type Stored = { readonly ok: true; readonly imported: ImportResult } | { readonly ok: false; readonly why: string }

/** Sends a file to the application. */
async function storedFile(content: OpenedInput['content'], { address, token }: RunningApplication): Promise<Stored> {
  const url = new URL('/api/import', address)
  try {
    const { name, body } = await content()
    if (name !== undefined) url.searchParams.set('name', name)
    const response = await directFetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-rollscope': '1', 'content-type': 'application/octet-stream' },
      body,
      // Node requires it for a body that arrives in pieces.
      duplex: 'half',
    } as unknown as RequestInit)
    const answer: unknown = await response.json()
    if (response.ok) return { ok: true, imported: importedSchema.parse(answer) }
    return { ok: false, why: refusalReason(answer) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { ok: false, why: failureText(error) }
  }
}

/** Returns the content of a file. Pipes, such as `<(zcat a.gz)` of a shell, have no name and no size. */
const fileContent = async (file: string, name: string): Promise<InputContent> =>
  (await stat(file)).isFile()
    ? { name, body: await openAsBlob(file) }
    : { name: undefined, body: Readable.toWeb(createReadStream(file)) }

function storedText(file: string, imported: ImportResult, { address, token }: RunningApplication): string {
  const { trajectories, existing, format, failed } = imported
  const count = countWithNoun(trajectories.length, 'trajectory', 'trajectories')
  const known = existing === 0 ? '' : `, ${existing} of them in the library before`
  return [
    `${file}: ${count} (${format})${known}`,
    `  ${address}/t/${encodeURIComponent(trajectories[0])}?token=${token}`,
    ...(failed.count === 0 ? [] : [`  ${countWithNoun(failed.count, 'record')} could not be read:`]),
    ...failed.first.map(({ line, message }) => `    ${line === undefined ? '' : `line ${line}: `}${message}`),
    '',
  ].join('\n')
}
