//go:build tools

// Package victoriametrics names what tests build, so that go.mod and go.sum pin it.
package victoriametrics

import _ "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics"
