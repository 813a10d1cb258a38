/** Auto-configuration of Snowlane for Spring Boot 3.5 and 4. */
package dev.snowlane.spring.boot;
