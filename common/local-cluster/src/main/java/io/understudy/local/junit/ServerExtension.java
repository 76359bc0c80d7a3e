package io.understudy.local.junit;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Passes JUnit's callbacks on to a fixture. */
interface ServerExtension extends BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    ServerFixture<?> fixture();

    @Override
    default void beforeAll(ExtensionContext context) {
        fixture().beforeAll(context);
    }

    @Override
    default void beforeEach(ExtensionContext context) {
        fixture().beforeEach(context);
    }

    @Override
    default void afterEach(ExtensionContext context) {
        fixture().afterEach(context);
    }

    @Override
    default void afterAll(ExtensionContext context) {
        fixture().afterAll(context);
    }
}
