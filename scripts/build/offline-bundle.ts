/** Bundles components/offline into one script, which the application puts into saved pages. */
import path from 'node:path'
import { build } from 'rolldown'

const root = path.resolve(import.meta.dirname, '..', '..')

/** Writes the script to `file`. */
export async function buildOfflineBundle(file: string): Promise<void> {
  await build({
    cwd: root,
    input: path.join(root, 'components', 'offline', 'main.tsx'),
    platform: 'browser',
    logLevel: 'warn',
    // Warnings about 'use client' are dropped, because in this script all components run in the client.
    onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    output: { file, format: 'iife', minify: true, comments: false },
  })
}
