/**
 * Configuration: one YAML file with variables and flags as overrides, validated at start.
 *
 * <p>Every setting is a row, {@link io.understudy.config.Setting}, kept next to what it configures; the sample file and
 * the reference page are generated from the same rows. {@link io.understudy.config.Configuration#load} either returns a
 * configuration in which every value is valid, or throws one exception with all problems.
 */
@NullMarked
package io.understudy.config;

import org.jspecify.annotations.NullMarked;
