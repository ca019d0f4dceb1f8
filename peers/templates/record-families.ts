/** `node peers/templates/record-families.ts` writes the golden files of lib/rollout/families and the tables of docs/chat-templates.md. */
import { writeFileSync } from 'node:fs'
import { goldenFile } from '#lib/rollout/families/test-golden.ts'
import { installTemplates, peersFolder } from '../set-up/install.ts'
import { familyGoldens } from './family-goldens.ts'
import { sweepTemplates } from './template-sweep.ts'
import { pageWith, tablePage } from './template-table.ts'

const { templates: python, chatTemplates } = installTemplates(peersFolder())
for (const [name, golden] of await familyGoldens(python, chatTemplates))
  writeFileSync(goldenFile(name), `${JSON.stringify(golden, null, 1)}\n`)
writeFileSync(tablePage, pageWith(await sweepTemplates(python, chatTemplates)))
