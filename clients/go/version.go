package snowlane

// version is the version of this module; servers see it in the user agent.
const version = "0.1.0"
