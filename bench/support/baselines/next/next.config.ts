import type { NextConfig } from 'next'
import application from '../../../../next.config.mjs'

/** The settings of the application. */
const config: NextConfig = {
  ...application,
  turbopack: { ...application.turbopack, root: `${import.meta.dirname}/../../../..` },
  typescript: { ignoreBuildErrors: true, tsconfigPath: '../../../../tsconfig.build.json' },
}

export default config
