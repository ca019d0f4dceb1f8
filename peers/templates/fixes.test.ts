/** Tests the promises of the prefix doctor for every fix that it offers for real chat templates. */
import { expect, inject, test } from 'vitest'
import { sweepFixes } from './template-fixes.ts'

const { templates: python, chatTemplates } = inject('places').peers
/** Each of about 300 cells may need 1,500 attempts. */
const LONGEST_MS = 3_600_000

test(
  'With transformers, a template with an offered fix keeps every prefix, first prompt and plain reply that it promises to keep',
  async () => {
    const { offered } = await sweepFixes(python, chatTemplates)
    expect(offered.length).toBeGreaterThan(20)
    expect(offered.filter(({ prefixPreserving }) => prefixPreserving < 10)).toEqual([])
    expect(offered.filter(({ wrong }) => wrong.length > 0)).toEqual([])
  },
  LONGEST_MS,
)
