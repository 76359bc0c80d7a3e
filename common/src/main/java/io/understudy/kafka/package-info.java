/** How this process reaches Kafka: its settings, and clients that neither lose nor reorder. */
@NullMarked
package io.understudy.kafka;

import org.jspecify.annotations.NullMarked;
