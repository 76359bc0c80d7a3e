/**
 * Configuration: one YAML file, overridable by {@code UNDERSTUDY_…} variables and flags, checked as a whole at start.
 *
 * <p>Every setting is a row, {@link io.understudy.config.Setting}, kept next to what it configures; the sample file and
 * the reference page are written from the same rows. {@link io.understudy.config.Configuration#load} either yields a
 * configuration in which every value is valid, or one exception with all problems.
 */
@NullMarked
package io.understudy.config;

import org.jspecify.annotations.NullMarked;
