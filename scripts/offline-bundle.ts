/** Makes one script of components/offline: the application puts it into the pages that it saves. */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { build } from 'rolldown'

const folder = path.resolve(import.meta.dirname, '..')

/** Served as any file of public; ignored by git. */
export const OFFLINE_SCRIPT = path.join(folder, 'public', 'built', 'offline.js')

export async function buildOfflineBundle(): Promise<void> {
  mkdirSync(path.dirname(OFFLINE_SCRIPT), { recursive: true })
  await build({
    cwd: folder,
    input: path.join(folder, 'components', 'offline', 'main.tsx'),
    platform: 'browser',
    logLevel: 'warn',
    // Every file of components may say 'use client': here all of them are.
    onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    output: { file: OFFLINE_SCRIPT, format: 'iife', minify: true, comments: false },
  })
}
