/** Installs strands-sglang and starts the application once, for the tests that do not need SGLang. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { installStrands, peersFolder } from './install.ts'
import { startApplication } from './processes.ts'

/** The addresses and paths for these tests. */
export interface StrandsPlaces {
  /** Python with the published strands-sglang. */
  readonly python: string
  /** The shipped model, whose tokenizer strands-sglang loads. */
  readonly model: string
  readonly application: string
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly strands: StrandsPlaces
  }
}

/** Starts everything before the tests. Returns a function that stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const python = installStrands(peersFolder())
  const models = path.resolve(import.meta.dirname, '..', '..', 'models')
  const folder = path.join(peersFolder(), 'strands-tests')
  mkdirSync(folder, { recursive: true })
  const application = await startApplication({ folder, tokenizers: models, python })
  project.provide('strands', { python, model: path.join(models, 'tiny-qwen3'), application: application.baseUrl })
  return application.stop
}
