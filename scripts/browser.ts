/** Finds or installs a Chromium for the tests: the system's, Playwright's own, or as root Debian's package. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chromium } from '@playwright/test'

/** A Chromium without windows: a journey takes a third less processor time than in the full browser. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'

const SYSTEM_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** Returns the path of a browser, or undefined if there is none. `headed` requires a browser with windows. */
export const findBrowser = ({ headed = false } = {}): string | undefined =>
  [process.env.CHROMIUM_PATH, ...(headed ? [] : [HEADLESS_SHELL]), chromium.executablePath(), ...SYSTEM_PATHS].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  )

/** Returns the path of a browser and installs one if necessary. Throws an Error with advice if that fails. */
export function ensureBrowser(): string {
  const attempts = [
    () => run('npx', ['playwright', 'install', 'chromium']),
    () =>
      isRoot() &&
      run('apt-get', ['update']) &&
      run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium-headless-shell']),
    () => isRoot() && run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']),
  ]
  for (const attempt of [() => true, ...attempts]) {
    attempt()
    const found = findBrowser()
    if (found) return found
  }
  throw new Error(
    'The tests need Chromium and none could be installed: install Chromium or Chrome, or set CHROMIUM_PATH to one.',
  )
}

const isRoot = (): boolean => process.getuid?.() === 0

function run(command: string, parameters: readonly string[]): boolean {
  console.log(`$ ${command} ${parameters.join(' ')}`)
  return (
    spawnSync(command, parameters, {
      stdio: 'inherit',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 600_000,
    }).status === 0
  )
}
