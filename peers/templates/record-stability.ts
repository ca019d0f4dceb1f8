/**
 * `node peers/templates/record-stability.ts` writes lib/templates/prefix-preservation/golden/trl.json and the table of
 * docs/template-lab.md.
 */
import { writeFileSync } from 'node:fs'
import { trlGoldenFile } from '#lib/templates/prefix-preservation/trl/test-trl.ts'
import { installTemplates, peersFolder } from '../set-up/install.ts'
import { doctored, templatesIn, trlGolden } from './stability-sweep.ts'
import { stabilityPage, stabilityPageWith } from './stability-table.ts'

const { templates: python, chatTemplates } = installTemplates(peersFolder())
const templates = templatesIn(chatTemplates).map(doctored)
const golden = await trlGolden(python, templates)
writeFileSync(trlGoldenFile, `${JSON.stringify(golden, null, 1)}\n`)
writeFileSync(stabilityPage, stabilityPageWith(templates, golden))
