/** Writes the tables of docs/chat-templates.md from a sweep of all templates. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Kind, Swept } from './template-sweep.ts'

/** Path of the page with the tables. */
export const tablePage = path.join(import.meta.dirname, '..', '..', 'docs', 'chat-templates.md')

const BEGIN = '<!-- peers/templates/record-families.ts writes what follows. -->'

/** Returns the page with the tables of a sweep. */
export const pageWith = (swept: readonly Swept[]): string =>
  `${readFileSync(tablePage, 'utf8').split(BEGIN)[0]}${BEGIN}\n\n${tables(swept)}`

const LISTED: readonly Kind[] = [
  'rewritten',
  'broken',
  'refused',
  'misread',
  'no calls',
  'lost',
  'unnoticed',
  'no parser',
]

function tables(swept: readonly Swept[]): string {
  const of = (kind: Kind) => swept.filter((one) => one.kind === kind)
  const kinds = [...new Set(swept.map(({ kind }) => kind))]
  return [
    `Of ${swept.length} templates: ${kinds.map((kind) => `${of(kind).length} ${kind}`).join(', ')}.`,
    '',
    '| template | parser | outcome | why |',
    '| --- | --- | --- | --- |',
    ...LISTED.flatMap(of).map(({ name, parser = '', kind, why }) => `| ${name} | ${parser} | ${kind} | ${cell(why)} |`),
    '',
    `Without tools: ${of('no tools')
      .map(({ name }) => name)
      .join(', ')}.`,
    '',
  ].join('\n')
}

const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll(/\s*\n\s*/g, ' ')
